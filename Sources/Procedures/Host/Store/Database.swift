internal import CSQLite

/// One connection to an SQLite file. For use by one thread.
///
/// It uses SQLite's C API directly: this file and `Statement.swift` are all that is needed, and GRDB would add
/// Foundation, about 60 MB, to every program that stores data.
final class Database {
    enum Access {
        case readWrite
        case readOnly
    }

    let handle: OpaquePointer
    private var statements: [String: Statement] = [:]
    private var limiter: Limiter?

    /// How long a call waits for another writer, in milliseconds.
    static let patience: Int32 = 5000

    init(_ path: String, _ access: Access) throws(StoreError) {
        let mode = access == .readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let flags = mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            let error = StoreError(sqlite: code, handle, path)
            sqlite3_close_v2(handle)
            throw error
        }
        self.handle = handle
        qc_sqlite_defend(handle)
        sqlite3_busy_timeout(handle, Self.patience)
    }

    deinit {
        statements = [:]
        sqlite3_close_v2(handle)
    }

    /// Checks the result of an SQLite function.
    func check(_ code: Int32, _ what: String) throws(StoreError) {
        if code != SQLITE_OK { throw StoreError(sqlite: code, handle, what) }
    }

    /// Runs statements that return nothing.
    func execute(_ sql: String) throws(StoreError) {
        try check(sqlite3_exec(handle, sql, nil, nil, nil), "the data")
    }

    /// One of the program's own statements, compiled once.
    func statement(_ sql: String) throws(StoreError) -> Statement {
        if let statement = statements[sql] { return statement }
        let statement = try Statement(sql, in: self)
        // Queries with many conditions have many different texts, so the cache is bounded.
        if statements.count >= 64 { statements = [:] }
        statements[sql] = statement
        return statement
    }

    /// Runs a statement with values to its end.
    func run(_ sql: String, _ values: [SQLValue] = []) throws(StoreError) {
        try statement(sql).run(values)
    }

    /// The first column of the first row.
    func value(_ sql: String, _ values: [SQLValue] = []) throws(StoreError) -> SQLValue? {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        return try statement.step() ? statement[0] : nil
    }

    func integer(_ sql: String, _ values: [SQLValue] = []) throws(StoreError) -> Int64 {
        if case .integer(let number)? = try value(sql, values) { number } else { 0 }
    }

    /// How many rows the last statement has changed.
    var changes: Int { Int(sqlite3_changes64(handle)) }
    var lastID: Int64 { sqlite3_last_insert_rowid(handle) }
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Runs `body` in a writing transaction: everything, or nothing.
    func write<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        try execute("BEGIN IMMEDIATE")
        do throws(StoreError) {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            rollBack()
            throw error
        }
    }

    func rollBack() {
        // After some errors SQLite has already rolled back.
        if isInTransaction { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    }

    // MARK: Limits

    /// Ends what runs beyond a moment.
    private final class Limiter {
        let end: ContinuousClock.Instant
        init(_ end: ContinuousClock.Instant) { self.end = end }
    }

    /// Makes statements within `body` end with ``StoreError/Kind/timeout`` at a moment.
    func limited<Value>(
        until end: ContinuousClock.Instant,
        _ body: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let limiter = Limiter(end)
        self.limiter = limiter
        sqlite3_progress_handler(
            handle,
            1000,
            { pointer in
                guard let pointer else { return 0 }
                return Unmanaged<Limiter>.fromOpaque(pointer).takeUnretainedValue().end < .now ? 1 : 0
            },
            Unmanaged.passUnretained(limiter).toOpaque()
        )
        defer {
            sqlite3_progress_handler(handle, 0, nil, nil)
            self.limiter = nil
        }
        return try body()
    }
}
