/// Limits of age and size: the oldest entries are deleted, a few at a time, so that nobody waits for long.
extension DataStore {
    /// How many are deleted in one step.
    package static let step = 500

    /// What was recorded while the clock had not been set has no age: only the limit of size deletes it.
    private static let hasAge = "NOT (source = 'event' AND date < '\(EntryDate.earliestRecorded)')"

    /// Deletes some of the oldest entries of a kind that are older than a moment.
    /// - Returns: how many were deleted; fewer than ``step`` if no more are left.
    package func deleteSome(before date: EntryDate, kind: String) throws(StoreError) -> Int {
        try database.run(
            """
            DELETE FROM entries WHERE id IN
                (SELECT id FROM entries WHERE kind = ? AND date < ? AND \(Self.hasAge) ORDER BY date LIMIT ?)
            """,
            [.text(kind), .text("\(date)"), .integer(Int64(Self.step))]
        )
        return database.changes
    }

    /// Deletes some of the oldest entries that are older than a moment and of none of these kinds.
    package func deleteSome(before date: EntryDate, exceptKinds kinds: [String]) throws(StoreError) -> Int {
        let marks = kinds.map { _ in "?" }.joined(separator: ", ")
        try database.run(
            """
            DELETE FROM entries WHERE id IN
                (SELECT id FROM entries WHERE date < ? AND kind NOT IN (\(marks)) AND \(Self.hasAge) ORDER BY date LIMIT ?)
            """,
            [.text("\(date)")] + kinds.map(SQLValue.text) + [.integer(Int64(Self.step))]
        )
        return database.changes
    }

    /// Whether all entries but those since a moment are older than another one, and there are any.
    package func isAllOlder(than date: EntryDate, butSince recent: EntryDate) throws(StoreError) -> Bool {
        let newest = try database.value(
            "SELECT max(date) FROM entries WHERE date < ? AND \(Self.hasAge)",
            [.text("\(recent)")]
        )
        guard case .text(let newest) = newest else { return false }
        return newest < "\(date)"
    }

    /// Deletes some of the oldest entries of any kind.
    package func deleteOldest() throws(StoreError) -> Int {
        try database.run(
            "DELETE FROM entries WHERE id IN (SELECT id FROM entries ORDER BY date LIMIT ?)",
            [.integer(Int64(Self.step))]
        )
        return database.changes
    }

    /// Bytes of the file that the entries use.
    package var usedBytes: Int64 {
        get throws(StoreError) {
            let pages = try database.integer("PRAGMA page_count") - database.integer("PRAGMA freelist_count")
            return try pages * database.integer("PRAGMA page_size")
        }
    }

    /// Returns unused pages to the file system.
    package func shrink() throws(StoreError) {
        let statement = try database.statement("PRAGMA incremental_vacuum(500)")
        try statement.run([])
    }
}
