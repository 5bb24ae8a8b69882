// The inserts of the outbox in plain C: FOLDER POINTS COMMIT full|normal.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(int code, sqlite3 *database) {
    if (code == SQLITE_OK || code == SQLITE_DONE) return;
    fprintf(stderr, "outbox-peer: %s\n", sqlite3_errmsg(database));
    exit(1);
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    int points = atoi(arguments[2]), commit = atoi(arguments[3]);
    char path[4096], sql[64];
    snprintf(path, sizeof path, "%s/outbox.sqlite", arguments[1]);
    sqlite3 *database;
    check(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL),
          database);
    snprintf(sql, sizeof sql, "PRAGMA synchronous = %s", arguments[4]);
    check(sqlite3_exec(database, "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL", NULL, NULL, NULL),
          database);
    check(sqlite3_exec(database, sql, NULL, NULL, NULL), database);
    check(sqlite3_exec(database,
                       "CREATE TABLE points("
                       "id INTEGER PRIMARY KEY, lane INTEGER NOT NULL, state INTEGER NOT NULL,"
                       "attempts INTEGER NOT NULL, created_ns INTEGER NOT NULL, boot INTEGER NOT NULL,"
                       "boot_ns INTEGER NOT NULL, priority INTEGER NOT NULL, sum INTEGER NOT NULL, feed TEXT NOT NULL,"
                       "value TEXT NOT NULL, latitude REAL, longitude REAL, elevation REAL);"
                       "CREATE INDEX points_of_lane ON points(lane, state, id)",
                       NULL, NULL, NULL),
          database);
    sqlite3_stmt *insert;
    check(sqlite3_prepare_v3(database, "INSERT INTO points VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", -1,
                             SQLITE_PREPARE_PERSISTENT, &insert, NULL),
          database);
    struct timespec begin, end, now;
    clock_gettime(CLOCK_BOOTTIME, &begin);
    for (int start = 0; start < points; start += commit) {
        clock_gettime(CLOCK_REALTIME, &now);
        sqlite3_int64 time = (sqlite3_int64)now.tv_sec * 1000000000 + now.tv_nsec;
        check(sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL), database);
        for (int point = start; point < start + commit && point < points; point++) {
            char feed[32], value[32];
            snprintf(feed, sizeof feed, "feed-%d", point % 10);
            snprintf(value, sizeof value, "%d.25", point);
            sqlite3_bind_int64(insert, 1, point + 1);
            sqlite3_bind_int64(insert, 2, point % 10 + 1);
            sqlite3_bind_int64(insert, 3, 0);
            sqlite3_bind_int64(insert, 4, 0);
            sqlite3_bind_int64(insert, 5, time);
            sqlite3_bind_int64(insert, 6, 1);
            sqlite3_bind_int64(insert, 7, time);
            sqlite3_bind_int64(insert, 8, 0);
            sqlite3_bind_int64(insert, 9, (unsigned)point * 2654435761u);
            sqlite3_bind_text(insert, 10, feed, -1, SQLITE_TRANSIENT);
            sqlite3_bind_text(insert, 11, value, -1, SQLITE_TRANSIENT);
            check(sqlite3_step(insert), database);
            sqlite3_reset(insert);
        }
        check(sqlite3_exec(database, "COMMIT", NULL, NULL, NULL), database);
    }
    clock_gettime(CLOCK_BOOTTIME, &end);
    double seconds = (end.tv_sec - begin.tv_sec) + (end.tv_nsec - begin.tv_nsec) / 1e9;
    printf("{\"points\":%d,\"seconds\":%f,\"points_per_s\":%d}\n", points, seconds, (int)(points / seconds));
    sqlite3_finalize(insert);
    sqlite3_close(database);
    return 0;
}
