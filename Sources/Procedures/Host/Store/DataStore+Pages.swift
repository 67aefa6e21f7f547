internal import CSQLite
internal import Glibc
package import JSON

/// Information about the contents, copies, and pages of entries.
extension DataStore {
    /// What the store holds, for people: `{path, version, entries, bytes, oldest, newest, kinds: [{kind, entries, oldest, newest}]}`.
    package func information() throws(StoreError) -> JSONObject {
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

    /// Copies everything into a new file, while others read and write. The copy is consistent, as of one moment.
    package func backUp(to path: String) throws(StoreError) {
        let copy = try Database(path, .readWrite)
        guard let backup = sqlite3_backup_init(copy.handle, "main", database.handle, "main") else {
            throw StoreError(sqlite: sqlite3_extended_errcode(copy.handle), copy.handle, path)
        }
        // In one step: in several, it would restart at each entry that another process writes.
        let code = sqlite3_backup_step(backup, -1)
        sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE else {
            let error = StoreError(sqlite: code, copy.handle, path)
            unlink(path)
            throw error
        }
        // A single file, without others beside it.
        _ = try copy.value("PRAGMA journal_mode = DELETE")
    }

    /// Saves exported entries, under their ids if those are free; an identical entry that already exists is left out.
    /// - Returns: how many are new.
    package func importEntries(_ entries: [Entry]) throws(StoreError) -> Int {
        try flushed { () throws(StoreError) in try importOnce(entries) }
    }

    private func importOnce(_ entries: [Entry]) throws(StoreError) -> Int {
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
