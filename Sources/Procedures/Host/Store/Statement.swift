internal import CSQLite

/// A value as SQLite keeps it.
package enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
}

/// A compiled statement. Values are bound to it and never part of its text.
final class Statement {
    private let handle: OpaquePointer
    private unowned let database: Database

    init(_ sql: String, in database: Database) throws(StoreError) {
        self.database = database
        var rest = sql
        guard let handle = try Self.compile(&rest, in: database) else {
            throw StoreError(.invalid, "the text holds no statement")
        }
        self.handle = handle
        // Semicolons and comments may follow.
        while !rest.isEmpty {
            let length = rest.utf8.count
            let other = try Self.compile(&rest, in: database)
            sqlite3_finalize(other)
            // SQLite stops reading at a NUL.
            guard other == nil, rest.utf8.count < length else {
                throw StoreError(.invalid, "the text holds more than one statement")
            }
        }
    }

    /// Compiles the first statement of a text, and removes it from the text.
    /// - Returns: nil if there was nothing but semicolons or comments.
    private static func compile(_ sql: inout String, in database: Database) throws(StoreError) -> OpaquePointer? {
        var handle: OpaquePointer?
        var rest = ""
        let code = sql.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                var tail: UnsafePointer<CChar>?
                let code = sqlite3_prepare_v3(database.handle, bytes.baseAddress, Int32(bytes.count), 0, &handle, &tail)
                if let tail, let base = bytes.baseAddress {
                    rest = String(
                        decoding: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[(tail - base)...]),
                        as: UTF8.self
                    )
                }
                return code
            }
        }
        guard code == SQLITE_OK else { throw StoreError(sqlite: code, database.handle, "SQL") }
        sql = rest
        return handle
    }

    deinit { sqlite3_finalize(handle) }

    var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }
    var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }
    var columnCount: Int { Int(sqlite3_column_count(handle)) }

    func bind(_ values: [SQLValue]) throws(StoreError) {
        for (index, value) in values.enumerated() {
            try database.check(bind(value, at: Int32(index + 1)), "parameter \(index + 1)")
        }
    }

    private func bind(_ value: SQLValue, at index: Int32) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(handle, index)
        case .integer(let number): return sqlite3_bind_int64(handle, index, number)
        case .real(let number): return sqlite3_bind_double(handle, index, number)
        case .text(var text):
            return text.withUTF8 { bytes in
                // An empty text has no address; SQLite would take that for null.
                guard let base = bytes.baseAddress else { return qc_sqlite_bind_text(handle, index, "", 0) }
                return base.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                    qc_sqlite_bind_text(handle, index, $0, Int32(clamping: bytes.count))
                }
            }
        }
    }

    /// Goes to the next row; false at the end.
    func step() throws(StoreError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            var error = StoreError(sqlite: code, database.handle, "the data")
            // A transaction that has read and now would write must not wait for another writer, because its data would
            // be outdated.
            if error.kind == .busy, database.isInTransaction { error.kind = .conflict }
            reset()
            throw error
        }
    }

    /// Runs it with the values of a call of a function, whose result becomes that of its first row.
    func pass(_ values: [OpaquePointer?], to context: OpaquePointer) throws(StoreError) {
        for (index, value) in values.enumerated() {
            try database.check(sqlite3_bind_value(handle, Int32(index + 1), value), "parameter \(index + 1)")
        }
        if try step() { sqlite3_result_value(context, sqlite3_column_value(handle, 0)) }
    }

    func run(_ values: [SQLValue]) throws(StoreError) {
        defer { reset() }
        try bind(values)
        while try step() {}
    }

    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    // MARK: The row

    func name(_ column: Int) -> String { sqlite3_column_name(handle, Int32(column)).map { String(cString: $0) } ?? "" }

    subscript(column: Int) -> SQLValue {
        let index = Int32(column)
        switch sqlite3_column_type(handle, index) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, index))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, index))
        case SQLITE_NULL: return .null
        default: return .text(withText(column) { String(decoding: $0, as: UTF8.self) })
        }
    }

    func integer(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }

    /// The bytes of a text, until the next step.
    func withText<Result>(_ column: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let text = sqlite3_column_text(handle, Int32(column))
        return body(UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, Int32(column)))))
    }
}
