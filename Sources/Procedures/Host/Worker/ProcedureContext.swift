internal import JSON
internal import JavaScriptCore
internal import QuickConnect
internal import Synchronization

/// `Context`, through which a procedure uses the data. Only what is listed in `jsExports` is visible to it.
final class ProcedureContext: JSExport {
    /// The running call: a worker runs one at a time, in all of its contexts.
    private struct Current: @unchecked Sendable {
        // Sendable because only the worker's one thread uses it.
        var session: ProcedureSession?
    }

    private static let current = Mutex(Current())

    /// Makes `Context` refer to this call while `body` runs.
    static func with<Value>(_ session: ProcedureSession, _ body: () throws -> Value) rethrows -> Value {
        current.withLock { $0.session = session }
        defer { current.withLock { $0.session = nil } }
        return try body()
    }

    private static func session() throws(ProcedureError) -> ProcedureSession {
        // Outside of the lock, because using it may take long.
        let taken = current.withLock { $0 }
        guard let session = taken.session else { throw ProcedureError(.unavailable, "the call is over") }
        return session
    }

    static let jsExports = JSExports("Context")
        .classMethod("context") { () in ProcedureContext() }
        .method("queryEntriesBetweenDateStart(_:end:)", ProcedureContext.entries)
        .method("query", ProcedureContext.query)
        .method("count", ProcedureContext.count)
        .method("save", ProcedureContext.save)
        .method("update", ProcedureContext.update)
        .method("delete", ProcedureContext.delete)
        .method("sql", ProcedureContext.sql)

    private func entries(from start: JSValue, to end: JSValue) throws -> JSONResult {
        let query = EntryQuery(from: try date(start, "the start"), to: try date(end, "the end"))
        return try find(query)
    }

    private func query(_ what: JSValue) throws -> JSONResult { try find(try entryQuery(what)) }

    private func find(_ query: EntryQuery) throws -> JSONResult {
        JSONResult(
            text: try Self.session().use { store throws(StoreError) in
                try store.json(query, maximumBytes: ProcedureSession.answerBytes)
            }
        )
    }

    private func count(_ what: JSValue) throws -> Double {
        let query = try entryQuery(what)
        return Double(try Self.session().use { store throws(StoreError) in try store.count(query) })
    }

    private func save(_ entry: JSValue) throws -> Double {
        let session = try Self.session()
        let entry = try entryOf(try json(entry, losing: ["date", "source"]), session.procedure)
        return Double(try session.use { store throws(StoreError) in try store.save(entry) })
    }

    private func update(_ id: JSValue, _ changes: JSValue) throws -> Bool {
        let (id, changes) = (try number(id), try json(changes, losing: ["date", "source"]))
        guard let changes = changes.objectValue else {
            throw ProcedureError(.scriptFailed, "update takes an id and an object of what changes")
        }
        return try Self.session().use { store throws(StoreError) in try store.update(id, changes) }
    }

    private func delete(_ id: JSValue) throws -> Bool {
        let id = try number(id)
        return try Self.session().use { store throws(StoreError) in try store.delete(id) }
    }

    private func sql(_ text: JSValue, _ parameters: JSValue) throws -> JSONResult {
        guard text.isString, let text = text.toString() else {
            throw ProcedureError(.scriptFailed, "sql takes a text and an array of parameters")
        }
        let values = try json(parameters)
        guard let items = values == .null ? [] : values.arrayValue else {
            throw ProcedureError(.scriptFailed, "the parameters of sql are an array")
        }
        for (index, item) in items.enumerated() where item == .null && !Self.isMissing(parameters[index]) {
            let gist = Self.gist(parameters[index])
            let sentence = "parameter \(index + 1) of sql is \(gist): give a value that JSON can express"
            throw ProcedureError(.scriptFailed, sentence)
        }
        let bound = try reading { () throws(StoreError) in
            var bound: [SQLValue] = []
            for item in items { bound.append(try SQLValue(item)) }
            return bound
        }
        return JSONResult(text: try Self.session().sql(text, bound))
    }

    // MARK: What they are given

    private var now: EntryDate {
        get throws(StoreError) {
            guard let date = EntryDate.now else { throw StoreError(.unavailable, "the clock of this device is wrong") }
            return date
        }
    }

    private func entryOf(_ json: JSONValue, _ source: String) throws -> Entry {
        try reading { () throws(StoreError) in try Entry(json, now: now, source: source) }
    }

    private func entryQuery(_ what: JSValue) throws -> EntryQuery {
        let json = try json(what, losing: EntryQuery.members)
        return try reading { () throws(StoreError) in try EntryQuery(json) }
    }

    /// A `Date`, or a text of ISO 8601.
    private func date(_ value: JSValue, _ what: String) throws -> EntryDate {
        guard let text = try json(value).stringValue else {
            throw ProcedureError(
                .scriptFailed,
                "\(what) is not a date: give a Date, or a text in ISO 8601 with a zone such as 2026-11-21T10:00:00Z"
            )
        }
        return try reading { () throws(StoreError) in try EntryDate(text) }
    }

    private func number(_ value: JSValue) throws -> Int64 {
        guard let id = try json(value).integerValue, id > 0 else {
            throw ProcedureError(.scriptFailed, "an id is a whole number from 1")
        }
        return id
    }

    private func json(_ value: JSValue) throws -> JSONValue {
        guard let text = try value.jsonText() else { return .null }
        do {
            return try JSONParser.parse(text)
        } catch {
            throw ProcedureError(.scriptFailed, "the value cannot be kept as JSON: \(error.message)")
        }
    }

    /// The same for an object where a missing member means something. JSON writes an invalid `Date`, NaN and functions
    /// as `null` or not at all, which would be missing.
    private func json(_ value: JSValue, losing names: [String]) throws -> JSONValue {
        let json = try json(value)
        guard value.isObject, let object = json.objectValue else { return json }
        for name in names where (object[name] ?? .null) == .null {
            let member = value[name]
            guard !Self.isMissing(member) else { continue }
            let sentence = "\(name) is \(Self.gist(member))\(Self.remedy(name)), or leave it out"
            throw ProcedureError(.scriptFailed, sentence)
        }
        return json
    }

    private static func isMissing(_ value: JSValue) -> Bool { value.isUndefined || value.isNull }

    private static func gist(_ value: JSValue) -> String { (value.toString() ?? "no JSON value").shortened }

    private static func remedy(_ name: String) -> String {
        ["from", "to", "date"].contains(name)
            ? ", not a date: give a valid Date, or a text in ISO 8601 with a zone such as 2026-11-21T10:00:00Z"
            : ", which JSON cannot express: give another value"
    }

    private func reading<Value>(_ body: () throws(StoreError) -> Value) throws -> Value {
        do throws(StoreError) {
            return try body()
        } catch {
            throw ProcedureError(error)
        }
    }
}

/// A value in JavaScript, given as JSON text in Swift.
struct JSONResult: JSConvertible {
    var text: String

    func toJSValue(in context: JSContext) -> JSValue {
        JSValue(newFromJSON: text, in: context) ?? JSValue(undefinedIn: context)
    }

    static func fromJSValue(_ value: JSValue) throws -> JSONResult { JSONResult(text: try value.jsonText() ?? "null") }
}
