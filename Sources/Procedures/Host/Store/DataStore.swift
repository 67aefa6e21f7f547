internal import CSQLite
package import JSON

/// The data of the device: an SQLite file with entries. Each object is for one thread; other threads and processes have
/// their own for the same file, and readers never wait for a writer (SQLite's write-ahead log).
package final class DataStore {
    let database: Database
    package let path: String
    /// The second connection, read-only, for procedures' SQL. Made when first needed.
    var reader: ReadOnlyQueries?

    private let outlivesPowerCuts: Bool

    /// Opens the file, and creates it if it is missing and may be written.
    /// - Parameters:
    ///   - path: the path of the file; its folder must exist.
    ///   - isChecked: whether to read all of it to check its integrity, which takes a second for a million entries.
    ///   - heapBytes: how much memory SQLite may use in this process; nil: no limit.
    ///   - outlivesPowerCuts: whether a commit waits until the disk has it (fsync). Otherwise a power cut may lose the
    ///     commits that the kernel has not written yet, up to 40 s of them; what is left is whole.
    package init(
        _ path: String,
        isChecked: Bool = false,
        heapBytes: Int? = nil,
        outlivesPowerCuts: Bool = false
    ) throws(StoreError) {
        if let heapBytes { sqlite3_hard_heap_limit64(Int64(heapBytes)) }
        self.path = path
        database = try Database(path, .readWrite)
        try Schema.prepare(database, path)
        if outlivesPowerCuts { try database.execute("PRAGMA synchronous = FULL") }
        self.outlivesPowerCuts = outlivesPowerCuts
        if isChecked { try Schema.check(database, path) }
    }

    /// Runs what commits, and waits until the disk has it.
    func flushed<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        guard !outlivesPowerCuts else { return try body() }
        try database.execute("PRAGMA synchronous = FULL")
        defer { try? database.execute("PRAGMA synchronous = NORMAL") }
        return try body()
    }

    // MARK: Transactions

    /// Begins an atomic transaction. It begins by reading, so that many can run concurrently. If it writes after
    /// another one has written, that fails with ``StoreError/Kind/conflict``, and the whole transaction must be run
    /// again.
    /// - Parameter writesAtOnce: waits for other writers before it begins, and then meets no conflict.
    package func begin(writesAtOnce: Bool = false) throws(StoreError) {
        try database.execute(writesAtOnce ? "BEGIN IMMEDIATE" : "BEGIN")
    }

    package func commit() throws(StoreError) {
        reader?.finish()
        try database.execute("COMMIT")
    }

    package func rollBack() {
        reader?.finish()
        database.rollBack()
    }

    /// Whether a transaction is open. After some errors, such as a full disk, SQLite has rolled it back by itself.
    package var isInTransaction: Bool { database.isInTransaction }

    // MARK: Entries

    /// Saves an entry under its id, or a new one.
    /// - Returns: its id.
    @discardableResult
    package func save(_ entry: Entry) throws(StoreError) -> Int64 {
        let id = entry.id.map(SQLValue.integer) ?? .null
        do throws(StoreError) {
            try database.run(
                "INSERT INTO entries(id, date, kind, data, source) VALUES(?, ?, ?, ?, ?)",
                [id, .text("\(entry.date)"), .text(entry.kind), .text(try entry.dataText), .text(entry.source)]
            )
        } catch {
            guard error.kind == .invalid, let id = entry.id else { throw error }
            throw StoreError(.invalid, "there is an entry \(id) already: change it by update")
        }
        return database.lastID
    }

    /// Saves entries, all or none.
    package func save(_ entries: [Entry]) throws(StoreError) {
        try database.write { () throws(StoreError) in
            for entry in entries { try save(entry) }
        }
    }

    /// The entry of an id.
    package func entry(_ id: Int64) throws(StoreError) -> Entry? {
        let statement = try database.statement("SELECT id, date, kind, data, source FROM entries WHERE id = ?")
        defer { statement.reset() }
        try statement.bind([.integer(id)])
        return try statement.step() ? try EntryRow(statement).entry() : nil
    }

    /// Changes an entry's members to those of an object.
    /// - Returns: whether there is an entry with that id.
    package func update(_ id: Int64, _ changes: JSONObject) throws(StoreError) -> Bool {
        guard changes["id"] == nil else { throw StoreError(.invalid, "an entry keeps its id") }
        guard var entry = try entry(id) else { return false }
        try entry.change(changes)
        try database.run(
            "UPDATE entries SET date = ?, kind = ?, data = ?, source = ? WHERE id = ?",
            [.text("\(entry.date)"), .text(entry.kind), .text(try entry.dataText), .text(entry.source), .integer(id)]
        )
        return true
    }

    /// - Returns: whether there was an entry with that id.
    package func delete(_ id: Int64) throws(StoreError) -> Bool {
        try database.run("DELETE FROM entries WHERE id = ?", [.integer(id)])
        return database.changes > 0
    }

    /// How many entries a query finds.
    package func count(_ query: EntryQuery) throws(StoreError) -> Int64 {
        let (sql, values) = query.sql("count(*)", isCount: true)
        return try database.integer(sql, values)
    }

    /// The entries of a query, as the text of a JSON array.
    /// - Parameter maximumBytes: the longest text; a longer one causes ``StoreError/Kind/tooLarge``.
    package func json(_ query: EntryQuery, maximumBytes: Int = 64 << 20) throws(StoreError) -> String {
        let buffer = OutputBuffer(capacity: 1024)
        buffer.append(UInt8(ascii: "["))
        var isFirst = true
        try forEachRow(query) { row throws(StoreError) in
            if !isFirst { buffer.append(UInt8(ascii: ",")) }
            isFirst = false
            row.write(to: buffer)
            guard buffer.count <= maximumBytes else {
                throw StoreError(
                    .tooLarge,
                    "the entries found are more than \(maximumBytes >> 20) MiB: ask for a shorter time, or with a limit"
                )
            }
        }
        buffer.append(UInt8(ascii: "]"))
        return buffer.text
    }

    /// The entries of a query, as JSON values.
    package func entries(_ query: EntryQuery) throws(StoreError) -> [Entry] {
        var entries: [Entry] = []
        try forEachRow(query) { row throws(StoreError) in entries.append(try row.entry()) }
        return entries
    }

    /// Some of the entries after an id, in the order of their ids: as many as fit that many bytes, and at least one.
    package func page(after id: Int64, maximumBytes: Int, maximumCount: Int = 500) throws(StoreError) -> [Entry] {
        var query = EntryQuery()
        query.order = .id
        query.afterID = id
        query.limit = maximumCount
        let (sql, values) = query.sql("id, date, kind, data, source", isCount: false)
        let statement = try database.statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        var entries: [Entry] = []
        var bytes = 0
        while bytes < maximumBytes, try statement.step() {
            bytes += statement.withText(3) { $0.count } + 200
            entries.append(try EntryRow(statement).entry())
        }
        return entries
    }

    private func forEachRow(_ query: EntryQuery, _ body: (EntryRow) throws(StoreError) -> Void) throws(StoreError) {
        let (sql, values) = query.sql("id, date, kind, data, source", isCount: false)
        let statement = try database.statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        while try statement.step() { try body(EntryRow(statement)) }
    }
}

/// A row of `id, date, kind, data, source`.
struct EntryRow {
    private let statement: Statement

    init(_ statement: Statement) { self.statement = statement }

    /// Writes it as JSON; its data already is.
    func write(to buffer: OutputBuffer) {
        buffer.append("{\"id\":")
        buffer.append(decimal: statement.integer(0))
        buffer.append(",\"date\":")
        statement.withText(1) { buffer.append(json: $0) }
        buffer.append(",\"kind\":")
        statement.withText(2) { buffer.append(json: $0) }
        buffer.append(",\"data\":")
        statement.withText(3) { buffer.append($0) }
        buffer.append(",\"source\":")
        statement.withText(4) { buffer.append(json: $0) }
        buffer.append(UInt8(ascii: "}"))
    }

    func entry() throws(StoreError) -> Entry {
        guard case .text(let date) = statement[1], case .text(let kind) = statement[2],
            case .text(let data) = statement[3], case .text(let source) = statement[4]
        else { throw StoreError(.damaged, "the entry \(statement.integer(0)) is damaged") }
        let value: JSONValue
        do {
            value = try JSONParser.parse(data)
        } catch {
            throw StoreError(.damaged, "the data of entry \(statement.integer(0)) is not JSON: \(error.message)")
        }
        return Entry(id: statement.integer(0), date: try EntryDate(date), kind: kind, data: value, source: source)
    }
}
