internal import SQLite

/// The history of the store's schema.
enum StoreSchema {
    static let migrations = [
        Migration(
            """
            CREATE TABLE accounts (
                id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL
            );
            CREATE TABLE groups (
                id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL REFERENCES accounts, key TEXT NOT NULL,
                name TEXT NOT NULL, description TEXT, visibility TEXT NOT NULL DEFAULT 'private',
                created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, UNIQUE (account, key)
            );
            CREATE TABLE feeds (
                id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL REFERENCES accounts, name TEXT NOT NULL,
                description TEXT, license TEXT, history INTEGER NOT NULL DEFAULT 1,
                visibility TEXT NOT NULL DEFAULT 'private', unit_type TEXT, unit_symbol TEXT,
                status_notify INTEGER NOT NULL DEFAULT 0, status_timeout INTEGER NOT NULL DEFAULT 4320,
                last INTEGER, pointer_time INTEGER, pointer INTEGER,
                created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
            );
            CREATE INDEX feeds_account ON feeds (account);
            CREATE TABLE memberships (
                "group" INTEGER NOT NULL REFERENCES groups ON DELETE CASCADE,
                feed INTEGER NOT NULL REFERENCES feeds ON DELETE CASCADE, key TEXT NOT NULL,
                PRIMARY KEY ("group", key), UNIQUE (feed, "group")
            ) WITHOUT ROWID;
            CREATE TABLE data (
                sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
                feed INTEGER NOT NULL REFERENCES feeds ON DELETE CASCADE, value TEXT NOT NULL,
                lat REAL, lon REAL, ele REAL, created_at INTEGER NOT NULL
            );
            CREATE INDEX data_time ON data (feed, created_at, sequence);
            CREATE TABLE dashboards (
                id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL REFERENCES accounts, key TEXT NOT NULL,
                name TEXT NOT NULL, settings TEXT NOT NULL, layouts TEXT NOT NULL, created_at INTEGER NOT NULL,
                updated_at INTEGER NOT NULL, UNIQUE (account, key)
            );
            CREATE TABLE blocks (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                dashboard INTEGER NOT NULL REFERENCES dashboards ON DELETE CASCADE, visual_type TEXT NOT NULL, name TEXT,
                settings TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
            );
            CREATE INDEX blocks_dashboard ON blocks (dashboard);
            CREATE TABLE wires (
                id INTEGER PRIMARY KEY AUTOINCREMENT, block INTEGER NOT NULL REFERENCES blocks ON DELETE CASCADE,
                feed INTEGER NOT NULL, "group" INTEGER NOT NULL,
                FOREIGN KEY (feed, "group") REFERENCES memberships (feed, "group") ON DELETE CASCADE
            );
            CREATE INDEX wires_block ON wires (block);
            CREATE INDEX wires_feed ON wires (feed, "group");
            CREATE TABLE activities (
                id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL REFERENCES accounts,
                action TEXT NOT NULL, model TEXT NOT NULL, data TEXT NOT NULL, created_at INTEGER NOT NULL
            );
            CREATE INDEX activities_account ON activities (account, created_at);
            CREATE TABLE records (
                id INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL REFERENCES accounts, kind TEXT NOT NULL,
                parent TEXT NOT NULL, key TEXT UNIQUE, body TEXT NOT NULL, created_at INTEGER NOT NULL,
                updated_at INTEGER NOT NULL
            );
            CREATE INDEX records_kind ON records (account, kind, parent);
            """
        )
    ]
}
