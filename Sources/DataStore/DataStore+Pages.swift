internal import CSQLite
internal import Glibc
public import JSON

/// What is in it, copies of it, and pages of entries.
extension DataStore {
    /// What the store holds, for people: `{path, version, entries, bytes, oldest, newest, kinds: [{kind, entries, oldest, newest}]}`.
    public func information() throws(StoreError) -> JSONObject {
        var kinds: [JSONValue] = []
        let statement = try database.statement(
            "SELECT kind, count(*), min(date), max(date) FROM entries GROUP BY kind ORDER BY count(*) DESC, kind LIMIT 1000"
        )
        defer { statement.reset() }
        while try statement.step() {
            kinds.append(
                .object([
                    "kind": json(statement[0]), "entries": json(statement[1]), "oldest": json(statement[2]),
                    "newest": json(statement[3]),
                ])
            )
        }
        return [
            "path": .string(path), "version": .integer(try database.integer("PRAGMA user_version")),
            "entries": .integer(try database.integer("SELECT count(*) FROM entries")), "bytes": .integer(try usedBytes),
            "oldest": json(try database.value("SELECT min(date) FROM entries") ?? .null),
            "newest": json(try database.value("SELECT max(date) FROM entries") ?? .null), "kinds": .array(kinds),
        ]
    }

    private func json(_ value: SQLValue) -> JSONValue {
        switch value {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .number(number)
        case .text(let text): .string(text)
        }
    }

    /// Copies all of it into a new file, while others read and write. The copy is whole, as of one moment.
    public func backUp(to path: String) throws(StoreError) {
        let copy = try Database(path, .readWrite)
        guard let backup = sqlite3_backup_init(copy.handle, "main", database.handle, "main") else {
            throw StoreError(sqlite: sqlite3_extended_errcode(copy.handle), copy.handle, path)
        }
        // In one go: in pieces it would begin anew with each entry that another process writes.
        let code = sqlite3_backup_step(backup, -1)
        sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE else {
            let error = StoreError(sqlite: code, copy.handle, path)
            unlink(path)
            throw error
        }
        // One file, which needs no other beside it.
        _ = try copy.value("PRAGMA journal_mode = DELETE")
    }

    /// Saves entries that were exported, each under its id where that is free; one that is there already with all that it
    /// says is left out.
    /// - Returns: how many are new.
    public func importEntries(_ entries: [Entry]) throws(StoreError) -> Int {
        try database.write { () throws(StoreError) in
            var count = 0
            for var entry in entries {
                if let id = entry.id, let there = try self.entry(id) {
                    if there == entry { continue }
                    entry.id = nil
                }
                try save(entry)
                count += 1
            }
            return count
        }
    }
}
