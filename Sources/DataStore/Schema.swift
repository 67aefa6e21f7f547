/// The tables, and the migrations of older files.
enum Schema {
    /// The application id in the file: `QCdb`.
    static let applicationID: Int64 = 0x5143_6462

    /// One step for each version, from an empty file on. A step that was shipped is never changed.
    static let migrations = [
        """
        CREATE TABLE entries(
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            date TEXT NOT NULL,
            kind TEXT NOT NULL,
            data TEXT NOT NULL DEFAULT 'null',
            source TEXT NOT NULL DEFAULT ''
        );
        CREATE INDEX entries_date ON entries(date);
        CREATE INDEX entries_kind_date ON entries(kind, date);
        """
    ]

    /// Checks that the file is intact and ours, and migrates it to this version.
    static func prepare(_ database: Database, _ path: String) throws(StoreError) {
        let version = try database.integer("PRAGMA user_version")
        let isNew = try database.integer("SELECT count(*) FROM sqlite_schema") == 0
        let application = try database.integer("PRAGMA application_id")
        guard isNew || application == applicationID else {
            throw StoreError(.damaged, "\(path) is a database of another program")
        }
        guard version <= migrations.count else {
            throw StoreError(
                .newer,
                "\(path) is of version \(version), and this program knows versions up to \(migrations.count): "
                    + "install the newer program again, or move the file aside"
            )
        }
        if isNew { try database.execute("PRAGMA auto_vacuum = INCREMENTAL") }
        _ = try database.value("PRAGMA journal_mode = WAL")
        try database.execute("PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304")
        guard version < migrations.count else { return }
        try database.write { () throws(StoreError) in
            // Another process may have been faster.
            let version = Int(try database.integer("PRAGMA user_version"))
            for (index, step) in migrations.enumerated() where index >= version {
                try database.execute("\(step); PRAGMA user_version = \(index + 1)")
            }
            try database.execute("PRAGMA application_id = \(applicationID)")
        }
    }

    /// Reads the whole file; throws if it is damaged.
    static func check(_ database: Database, _ path: String) throws(StoreError) {
        guard let answer = try database.value("PRAGMA quick_check(1)"), answer != .text("ok") else { return }
        let text = if case .text(let text) = answer { text } else { "it cannot be read" }
        throw StoreError(.damaged, "\(path) is damaged: \(text.split(separator: "\n").last ?? "")")
    }
}
