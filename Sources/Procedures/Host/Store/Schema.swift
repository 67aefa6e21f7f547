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
        let (version, isNew) = try known(database, path)
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

    /// The version of a file that is one of ours, and whether it is empty. As of one moment: another process may just make
    /// it.
    private static func known(_ database: Database, _ path: String) throws(StoreError) -> (version: Int64, isNew: Bool)
    {
        try database.execute("BEGIN")
        defer { database.rollBack() }
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
        if !isNew { try checkParts(database, path, version: Int(version)) }
        return (version, isNew)
    }

    /// Checks that the file has the tables, indexes, views and triggers of its version and nothing else: a trigger would
    /// run with whatever is saved, long after the one who made it.
    private static func checkParts(_ database: Database, _ path: String, version: Int) throws(StoreError) {
        let found = try parts(of: database)
        let known = try Database(":memory:", .readWrite)
        for step in migrations.prefix(max(0, version)) { try known.execute(step) }
        let expected = try parts(of: known)
        let foreign = found.filter { !expected.contains($0) }
        let missing = expected.filter { !found.contains($0) }
        guard let part = foreign.first ?? missing.first else { return }
        let what = foreign.isEmpty ? "lacks" : "has what this program does not make:"
        throw StoreError(
            .damaged,
            "\(path) \(what) the \(part.type) '\(part.name.prefix(100))'. It is left as it is and not used: "
                + "replace it by a backup, or move it aside, and restart the service"
        )
    }

    /// A table, an index, a view or a trigger, and the statement that made it.
    private struct Part: Hashable {
        let type: String
        let name: String
        let table: String
        let sql: String
    }

    private static func parts(of database: Database) throws(StoreError) -> [Part] {
        let statement = try database.statement(
            "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY type DESC, name LIMIT 1000"
        )
        defer { statement.reset() }
        func text(_ column: Int) -> String { statement.withText(column) { String(decoding: $0, as: UTF8.self) } }
        var parts: [Part] = []
        while try statement.step() { parts.append(Part(type: text(0), name: text(1), table: text(2), sql: text(3))) }
        return parts
    }

    /// Reads the whole file; throws if it is damaged.
    static func check(_ database: Database, _ path: String) throws(StoreError) {
        guard let answer = try database.value("PRAGMA quick_check(1)"), answer != .text("ok") else { return }
        let text = if case .text(let text) = answer { text } else { "it cannot be read" }
        throw StoreError(.damaged, "\(path) is damaged: \(text.split(separator: "\n").last ?? "")")
    }
}
