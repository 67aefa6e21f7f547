internal import CSQLite
internal import JSON

/// Untrusted SQL on a connection that can only read, and only the entries.
final class ReadOnlyQueries {
    private let database: Database
    private let guarded: GuardedFunctions
    /// The longest text of a statement's values.
    private static let maximumBytes = 8 << 20

    init(_ path: String) throws(StoreError) {
        database = try Database(path, .readOnly)
        let handle = database.handle
        try database.execute("PRAGMA query_only = ON")
        // Table-valued functions declare themselves at first use, which the authorizer would refuse.
        try database.execute("SELECT * FROM json_each('[]'); SELECT * FROM json_tree('[]')")
        guarded = try GuardedFunctions(on: database, maximumBytes: Self.maximumBytes)
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(Self.maximumBytes))
        sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 64 << 10)
        sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0)
        sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 100)
        sqlite3_limit(handle, SQLITE_LIMIT_COMPOUND_SELECT, 50)
        sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100)
        // What runs without a loop is looked at by no clock.
        sqlite3_limit(handle, SQLITE_LIMIT_VDBE_OP, 25_000)
    }

    /// Functions that access files, load code, or reveal internals of the file.
    private static let refusedFunctions: Set<String> = [
        "load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "sqlite_dbpage", "fsdir",
    ]

    /// Called at compile time for each action of a statement.
    private static let authorizer:
        @convention(c) (
            UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
            UnsafePointer<CChar>?
        ) -> Int32 = { _, action, first, second, _, _ in
            switch action {
            case SQLITE_SELECT, SQLITE_RECURSIVE: return SQLITE_OK
            case SQLITE_READ:
                // Temporary tables of a statement and table-valued functions do not access a file.
                let table = first.map { String(cString: $0) } ?? ""
                return ["entries", "json_each", "json_tree", ""].contains(table) ? SQLITE_OK : SQLITE_DENY
            case SQLITE_FUNCTION:
                let name = second.map { String(cString: $0).lowercased() } ?? ""
                return refusedFunctions.contains(name) ? SQLITE_DENY : SQLITE_OK
            default: return SQLITE_DENY
            }
        }

    /// The rows of a SELECT, as the text of a JSON array of objects.
    func json(_ sql: String, _ values: [SQLValue], _ limits: SQLLimits) throws(StoreError) -> String {
        if !database.isInTransaction { try database.execute("BEGIN") }
        let end = ContinuousClock.now + limits.time
        guarded.end = end
        defer { guarded.end = nil }
        return try database.limited(until: end) { () throws(StoreError) in
            let statement = try compile(sql)
            guard statement.parameterCount == values.count else {
                throw StoreError(
                    .invalid,
                    "the statement has \(statement.parameterCount) parameters, and \(values.count) values are given"
                )
            }
            try statement.bind(values)
            do throws(StoreError) {
                return try rows(statement, limits)
            } catch {
                guard error.kind == .timeout else { throw error }
                throw StoreError(.timeout, "the statement took longer than \(limits.time) (sqlTime)")
            }
        }
    }

    private func compile(_ sql: String) throws(StoreError) -> Statement {
        sqlite3_set_authorizer(database.handle, Self.authorizer, nil)
        defer { sqlite3_set_authorizer(database.handle, nil, nil) }
        let refusal = StoreError(.invalid, "sql only reads, and only entries: save, update and delete change them")
        do throws(StoreError) {
            let statement = try Statement(sql, in: database)
            guard statement.isReadOnly else { throw refusal }
            return statement
        } catch {
            throw sqlite3_errcode(database.handle) == SQLITE_AUTH ? refusal : error
        }
    }

    private func rows(_ statement: Statement, _ limits: SQLLimits) throws(StoreError) -> String {
        let buffer = OutputBuffer(capacity: 1024)
        let names = (0..<statement.columnCount).map(statement.name)
        var count = 0
        buffer.append(UInt8(ascii: "["))
        while try statement.step() {
            guard count < limits.rows, buffer.count < limits.bytes else {
                throw StoreError(
                    .tooLarge,
                    "the statement has more than \(limits.rows) rows (sqlRows) or \(limits.bytes >> 20) MiB"
                )
            }
            buffer.append(count == 0 ? ("{" as StaticString) : ",{")
            for (column, name) in names.enumerated() {
                if column > 0 { buffer.append(UInt8(ascii: ",")) }
                buffer.append(json: name)
                buffer.append(UInt8(ascii: ":"))
                statement[column].write(to: buffer)
            }
            buffer.append(UInt8(ascii: "}"))
            count += 1
        }
        buffer.append(UInt8(ascii: "]"))
        return buffer.text
    }

    /// Ends the read transaction: the next statement sees the newest data.
    func finish() { database.rollBack() }
}

/// The limits of a procedure's statement.
package struct SQLLimits: Sendable, Hashable {
    package var time = Duration.seconds(5)
    package var rows = 10_000
    package var bytes = 8 << 20

    package init() {}
}

extension DataStore {
    /// The rows of a SELECT over the table `entries`, as the text of a JSON array of objects. It sees what others have
    /// saved before the first such statement of the transaction, but not the changes of this transaction.
    package func sql(_ text: String, _ values: [SQLValue], _ limits: SQLLimits = SQLLimits()) throws(StoreError)
        -> String
    {
        let reader = if let reader { reader } else { try ReadOnlyQueries(path) }
        self.reader = reader
        defer { if !database.isInTransaction { reader.finish() } }
        return try reader.json(text, values, limits)
    }
}
