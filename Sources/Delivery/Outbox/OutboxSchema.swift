internal import SQLite

enum OutboxSchema {
    static let migrations = [
        Migration(
            """
            CREATE TABLE facts(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
            INSERT INTO facts VALUES('next_id', 1);
            CREATE TABLE boots(id INTEGER PRIMARY KEY, boot_id TEXT NOT NULL UNIQUE);
            -- The counts of each feed and priority, kept in the same transactions as the points themselves.
            CREATE TABLE lanes(
                id INTEGER PRIMARY KEY, feed TEXT NOT NULL, priority INTEGER NOT NULL, accepted INTEGER NOT NULL,
                confirmed INTEGER NOT NULL, refused INTEGER NOT NULL, doubt INTEGER NOT NULL, bytes INTEGER NOT NULL,
                evicted_full INTEGER NOT NULL, evicted_age INTEGER NOT NULL, evicted_disk INTEGER NOT NULL,
                evicted_buffer INTEGER NOT NULL, evicted_damage INTEGER NOT NULL, evicted_command INTEGER NOT NULL,
                evicted_late INTEGER NOT NULL, waiting INTEGER NOT NULL, sending INTEGER NOT NULL,
                doubtful INTEGER NOT NULL, held INTEGER NOT NULL, untimed INTEGER NOT NULL, missing INTEGER NOT NULL,
                UNIQUE(feed, priority));
            -- The feed stands in each row again, so that a row tells all about itself should the file be damaged.
            CREATE TABLE points(
                id INTEGER PRIMARY KEY, lane INTEGER NOT NULL, state INTEGER NOT NULL, attempts INTEGER NOT NULL,
                created_ns INTEGER NOT NULL, boot INTEGER NOT NULL, boot_ns INTEGER NOT NULL,
                priority INTEGER NOT NULL, sum INTEGER NOT NULL, feed TEXT NOT NULL, value TEXT NOT NULL,
                latitude REAL, longitude REAL, elevation REAL);
            CREATE INDEX points_of_lane ON points(lane, state, id);
            CREATE TABLE dead(
                id INTEGER PRIMARY KEY, lane INTEGER NOT NULL, state INTEGER NOT NULL, attempts INTEGER NOT NULL,
                created_ns INTEGER NOT NULL, boot INTEGER NOT NULL, boot_ns INTEGER NOT NULL,
                priority INTEGER NOT NULL, sum INTEGER NOT NULL, feed TEXT NOT NULL, value TEXT NOT NULL,
                latitude REAL, longitude REAL, elevation REAL, reason TEXT NOT NULL);
            -- Damaged files that were set aside, and how far what they hold was put back.
            CREATE TABLE salvages(
                path TEXT PRIMARY KEY, phase INTEGER NOT NULL, position INTEGER NOT NULL, first_id INTEGER NOT NULL,
                found INTEGER NOT NULL);
            -- Points of a damaged file that have been dealt with, while its salvage goes on.
            CREATE TABLE salvaged(id INTEGER PRIMARY KEY, is_confirmed INTEGER NOT NULL);
            """
        )
    ]

    /// The columns of a point's row, in the order of `PointRow`.
    static let pointColumns = """
        id, lane, state, attempts, created_ns, boot, boot_ns, priority, sum, feed, value, latitude, longitude, \
        elevation
        """

    /// The columns of a lane's row, in the order of `Lane`.
    static let laneColumns = """
        id, feed, priority, accepted, confirmed, refused, doubt, bytes, missing, evicted_full, evicted_age, \
        evicted_disk, evicted_buffer, evicted_damage, evicted_command, evicted_late, waiting, sending, doubtful, held, \
        untimed
        """
}
