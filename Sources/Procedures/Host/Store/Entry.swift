package import JSON

/// One entry of the data: something that happened at a moment.
package struct Entry: Sendable, Hashable {
    /// Unique forever: the number of a deleted entry is never reused. Nil: not saved yet.
    package var id: Int64?
    package var date: EntryDate
    /// What it is, such as an event's name. Not empty, at most ``maximumNameBytes``.
    package var kind: String
    /// Any JSON, at most ``maximumDataBytes``.
    package var data: JSONValue
    /// Where it is from, such as a procedure's name; empty if unknown.
    package var source: String

    package static let maximumNameBytes = 200
    package static let maximumDataBytes = 1 << 20

    package init(id: Int64? = nil, date: EntryDate, kind: String, data: JSONValue = .null, source: String = "") {
        self.id = id
        self.date = date
        self.kind = kind
        self.data = data
        self.source = source
    }

    static let members = ["id", "date", "kind", "data", "source"]

    /// Reads an entry: `kind` is required, everything else is optional.
    /// - Parameters:
    ///   - json: an object with these members and no others.
    ///   - now: the date if it has none.
    ///   - source: the source if it has none.
    package init(_ json: JSONValue, now: EntryDate, source: String = "") throws(StoreError) {
        guard let object = json.objectValue else {
            throw StoreError(.invalid, "an entry is an object {date, kind, data, source}")
        }
        try Self.checkNames(object)
        var entry = Entry(date: now, kind: "", source: source)
        try entry.change(object)
        guard object["kind"] != nil else { throw StoreError(.invalid, "an entry needs a kind, such as \"walk\"") }
        self = entry
    }

    private static func checkNames(_ object: JSONObject) throws(StoreError) {
        guard let name = object.names.first(where: { !members.contains($0) }) else { return }
        throw StoreError(
            .invalid,
            "an entry has no member '\(name.prefix(40))': it has \(members.joined(separator: ", "))"
        )
    }

    /// Takes the members that an object has.
    mutating func change(_ changes: JSONObject) throws(StoreError) {
        try Self.checkNames(changes)
        if let value = changes["id"], value != .null { id = try Self.id(value) }
        if let value = changes["date"], value != .null { date = try Self.date(value) }
        if let value = changes["kind"] { kind = try Self.name(value, "kind") }
        if let value = changes["source"], value != .null { source = try Self.name(value, "source") }
        if let value = changes["data"] { data = value }
    }

    static func id(_ value: JSONValue) throws(StoreError) -> Int64 {
        guard let id = value.integerValue, id > 0 else { throw StoreError(.invalid, "an id is a whole number from 1") }
        return id
    }

    static func date(_ value: JSONValue, _ what: String = "a date") throws(StoreError) -> EntryDate {
        guard let text = value.stringValue else {
            throw StoreError(.invalid, "\(what) is a text of ISO 8601 with a zone, such as \"2026-11-21T10:00:00Z\"")
        }
        return try EntryDate(text)
    }

    static func name(_ value: JSONValue, _ what: String) throws(StoreError) -> String {
        guard let text = value.stringValue, text.utf8.count <= maximumNameBytes, what == "source" || !text.isEmpty
        else {
            throw StoreError(.invalid, "\(what) is a text of at most \(maximumNameBytes) bytes")
        }
        return text
    }

    /// In the form of an export.
    package var json: JSONValue {
        [
            "id": id.map(JSONValue.integer) ?? .null, "date": .string("\(date)"), "kind": .string(kind), "data": data,
            "source": .string(source),
        ]
    }

    var dataText: String {
        get throws(StoreError) {
            let text = data.text
            guard text.utf8.count <= Self.maximumDataBytes else {
                throw StoreError(.tooLarge, "an entry's data has at most \(Self.maximumDataBytes >> 10) KiB as JSON")
            }
            return text
        }
    }
}
