// What the recorder is compared with: the same inserts through SQLite in plain C, with the recorder's schema, its
// prepared statement, its transactions and its syncs.
// Usage: recorder FOLDER SAMPLES COMMIT
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static sqlite3 *database;

static void check(int code, const char *what) {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    fprintf(stderr, "recorder.c: %s: %s\n", what, sqlite3_errmsg(database));
    exit(1);
}

static void run(const char *sql) { check(sqlite3_exec(database, sql, NULL, NULL, NULL), sql); }

static void sync_log(const char *path) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    if (fdatasync(descriptor) != 0) exit(1);
    close(descriptor);
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: recorder FOLDER SAMPLES COMMIT\n");
        return 2;
    }
    long samples = atol(arguments[2]), commit = atol(arguments[3]);
    char path[4096], log[4200];
    snprintf(path, sizeof path, "%s/plain.sqlite", arguments[1]);
    snprintf(log, sizeof log, "%s-wal", path);

    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    check(sqlite3_open_v2(path, &database, flags, NULL), "open");
    run("PRAGMA cache_size = -1024; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; "
        "PRAGMA synchronous = NORMAL");
    run("CREATE TABLE accelerometer(time_ns INTEGER PRIMARY KEY, _session INTEGER, _boot INTEGER, _tie INTEGER, "
        "x REAL, y REAL, z REAL)");
    sqlite3_stmt *insert;
    check(sqlite3_prepare_v3(database,
                             "INSERT OR IGNORE INTO accelerometer(time_ns, _session, _boot, _tie, x, y, z) "
                             "VALUES(?, ?, ?, ?, ?, ?, ?)",
                             -1, SQLITE_PREPARE_PERSISTENT, &insert, NULL),
          "prepare");

    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    sqlite3_int64 first = (sqlite3_int64)wall.tv_sec * 1000000000 + wall.tv_nsec;
    double begin = now(), synced = begin;
    sqlite3_bind_int64(insert, 2, 1);
    for (long start = 0; start < samples; start += commit) {
        long end = start + commit < samples ? start + commit : samples;
        run("BEGIN IMMEDIATE");
        for (long row = start; row < end; row++) {
            double value = (double)row * 0.001;
            sqlite3_bind_int64(insert, 1, first + row * 10000);
            sqlite3_bind_double(insert, 5, value);
            sqlite3_bind_double(insert, 6, value + 0.25);
            sqlite3_bind_double(insert, 7, 9.80665 - value);
            check(sqlite3_step(insert), "insert");
            sqlite3_reset(insert);
            if (sqlite3_changes64(database) == 0) return 1;
        }
        run("COMMIT");
        if (now() - synced >= 1) {
            sync_log(log);
            synced = now();
        }
    }
    sync_log(log);
    double seconds = now() - begin;
    sqlite3_finalize(insert);
    sqlite3_close(database);
    printf("{\"samples\":%ld,\"seconds\":%g,\"samples_per_s\":%.0f}\n", samples, seconds, samples / seconds);
    return 0;
}
