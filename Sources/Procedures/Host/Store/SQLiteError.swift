internal import CSQLite

extension StoreError {
    /// The error of a failed SQLite call, with a kind for its code.
    /// - Parameters:
    ///   - code: the extended result code of the call.
    ///   - database: the database, for its error text; nil if it was not opened.
    init(sqlite code: Int32, _ database: OpaquePointer?, _ what: String) {
        let text = database.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
        let sentence = text.map { String(cString: $0) } ?? "error \(code)"
        self.init(Self.kind(code), "\(what): \(sentence) (SQLite \(code))")
    }

    private static func kind(_ code: Int32) -> Kind {
        if isFullDisk(code) { return .full }
        // SQLITE_BUSY_SNAPSHOT, a macro: SQLITE_BUSY | 2 << 8.
        if code == SQLITE_BUSY | 2 << 8 { return .conflict }
        return switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        case SQLITE_READONLY, SQLITE_PERM: .readOnly
        case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
        case SQLITE_TOOBIG, SQLITE_NOMEM: .tooLarge
        case SQLITE_INTERRUPT: .timeout
        case SQLITE_ERROR, SQLITE_AUTH, SQLITE_RANGE, SQLITE_MISMATCH, SQLITE_CONSTRAINT: .invalid
        default: .unavailable
        }
    }

    /// SQLITE_FULL, and the errors of a write, a sync or an extension of the file on a full disk.
    private static func isFullDisk(_ code: Int32) -> Bool {
        code & 0xff == SQLITE_FULL
            || [3, 4, 5, 6, 19, 20].map { SQLITE_IOERR | $0 << 8 }.contains(code)
    }
}
