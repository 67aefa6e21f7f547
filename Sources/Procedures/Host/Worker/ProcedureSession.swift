/// The data for one call: one transaction, which begins when the call first uses the data.
final class ProcedureSession {
    private let path: String
    private let store: StoreKeeper
    /// Whether it waits for other writers when it begins, which rules out later conflicts.
    private let writesAtOnce: Bool
    /// The source of entries that have none.
    let procedure: String
    let sqlLimits: SQLLimits
    private let watch: SQLWatch?
    /// The most bytes of one query's result, as JSON.
    static let answerBytes = 16 << 20
    private var open: DataStore?
    /// Whether it met another write and must run again, however the script has handled the error.
    private(set) var hasConflict = false
    /// Why the transaction ended before the call.
    private var end: StoreError?

    init(
        _ store: StoreKeeper,
        _ path: String,
        procedure: String,
        sqlLimits: SQLLimits,
        writesAtOnce: Bool,
        watch: SQLWatch?
    ) {
        self.watch = watch
        self.store = store
        self.path = path
        self.procedure = procedure
        self.sqlLimits = sqlLimits
        self.writesAtOnce = writesAtOnce
    }

    /// Lets `body` use the data.
    func use<Value>(_ body: (DataStore) throws(StoreError) -> Value) throws(ProcedureError) -> Value {
        do throws(StoreError) {
            if let end { throw end }
            return try body(try begun())
        } catch {
            note(error)
            throw ProcedureError(error)
        }
    }

    /// The rows of a statement, as JSON.
    func sql(_ text: String, _ values: [SQLValue]) throws(ProcedureError) -> String {
        try use { store throws(StoreError) in
            guard let watch else { return try store.sql(text, values, sqlLimits) }
            return try watch.limit(sqlLimits.time, of: procedure) { () throws(StoreError) in
                try store.sql(text, values, sqlLimits)
            }
        }
    }

    private func begun() throws(StoreError) -> DataStore {
        if let open { return open }
        let store = try store.open(path)
        try store.begin(writesAtOnce: writesAtOnce)
        open = store
        return store
    }

    private func note(_ error: StoreError) {
        if error.kind == .conflict { hasConflict = true }
        // Earlier changes are lost, so nothing may be done that relies on them.
        if let open, !open.isInTransaction { end = end ?? error }
    }

    /// Commits all changes of the call.
    func commit() throws(ProcedureError) {
        defer { open = nil }
        do throws(StoreError) {
            if let end { throw end }
            try open?.commit()
        } catch {
            if error.kind == .conflict { hasConflict = true }
            open?.rollBack()
            throw ProcedureError(error)
        }
    }

    /// Undoes all changes of the call.
    func rollBack() {
        open?.rollBack()
        open = nil
    }
}

/// The open file, kept between calls.
final class StoreKeeper {
    private var store: DataStore?
    /// Why a process that may open no more files has no data.
    private(set) var problem: StoreError?
    /// SQLite may use so much of the worker's memory.
    private static let heapBytes = 24 << 20

    /// Opens it now, with the files that belong to it: later this process may make none.
    func prepare(_ path: String) {
        do throws(StoreError) {
            _ = try open(path).entry(1)
        } catch {
            problem = error
        }
    }

    func open(_ path: String) throws(StoreError) -> DataStore {
        if let problem { throw problem }
        if let store, store.path == path { return store }
        // Its caller is told that the entries are saved.
        let new = try DataStore(path, heapBytes: Self.heapBytes, outlivesPowerCuts: true)
        store = new
        return new
    }
}
