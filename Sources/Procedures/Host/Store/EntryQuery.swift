package import JSON

/// Selects and orders entries. Its values are bound to the statement, never part of its text.
package struct EntryQuery: Sendable, Hashable {
    /// A condition on a member: its path in the entry, an SQL operator, a value.
    struct Condition: Sendable, Hashable {
        var path: String
        var sign: String
        var values: [SQLValue]
    }

    package enum Order: String, Sendable, CaseIterable {
        case date, newest = "-date", id, newestID = "-id"

        var sql: String {
            switch self {
            case .date: "date, id"
            case .newest: "date DESC, id DESC"
            case .id: "id"
            case .newestID: "id DESC"
            }
        }
    }

    package var kind: String?
    /// The first moment, inclusive.
    package var from: EntryDate?
    /// The last moment, exclusive.
    package var to: EntryDate?
    var conditions: [Condition] = []
    package var order = Order.date
    package var limit: Int?
    /// Only entries with a greater id; for pages.
    package var afterID: Int64?

    package init(kind: String? = nil, from: EntryDate? = nil, to: EntryDate? = nil) {
        self.kind = kind
        self.from = from
        self.to = to
    }

    /// The members of a query as JSON.
    package static let members = ["kind", "from", "to", "where", "order", "limit"]
    private static let signs = ["eq": "IS", "ne": "IS NOT", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "in": "IN"]

    /// Reads `{kind, from, to, where, order, limit}`, all optional.
    ///
    /// `where` names members of an entry, those of its data by a path, with a value or `{OPERATOR: value}`:
    /// `{"source": "mic", "data.level": {"gt": 0.5}, "data.room": {"in": ["a", "b"]}}`.
    package init(_ json: JSONValue) throws(StoreError) {
        guard json != .null else { return }
        guard let object = json.objectValue else {
            throw StoreError(.invalid, "a query is an object {kind, from, to, where, order, limit}")
        }
        for (name, value) in object where value != .null {
            switch name {
            case "kind": kind = try Entry.name(value, "kind")
            case "from": from = try Entry.date(value, name)
            case "to": to = try Entry.date(value, name)
            case "where": try readConditions(value)
            case "order": order = try Self.order(value)
            case "limit": limit = try Self.limit(value)
            default:
                let names = Self.members.joined(separator: ", ")
                throw StoreError(.invalid, "a query has no member '\(name.prefix(40))': it has \(names)")
            }
        }
    }

    private static func order(_ value: JSONValue) throws(StoreError) -> Order {
        if let order = value.stringValue.flatMap(Order.init) { return order }
        throw StoreError(.invalid, "order is one of \(Order.allCases.map(\.rawValue).joined(separator: ", "))")
    }

    private static func limit(_ value: JSONValue) throws(StoreError) -> Int {
        if let limit = value.integerValue, limit >= 0 { return Int(clamping: limit) }
        throw StoreError(.invalid, "limit is a whole number from 0")
    }

    private mutating func readConditions(_ value: JSONValue) throws(StoreError) {
        guard let object = value.objectValue else {
            throw StoreError(
                .invalid,
                "where is an object of members and values, such as {\"data.level\": {\"gt\": 0.5}}"
            )
        }
        guard object.count <= 50 else { throw StoreError(.invalid, "where has at most 50 conditions") }
        for (path, value) in object {
            guard let operators = value.objectValue else {
                conditions.append(try Self.condition(path, "eq", value))
                continue
            }
            for (name, value) in operators { conditions.append(try Self.condition(path, name, value)) }
        }
    }

    private static func condition(_ path: String, _ name: String, _ value: JSONValue) throws(StoreError) -> Condition {
        guard let sign = signs[name] else {
            throw StoreError(
                .invalid,
                "where has no operator '\(name.prefix(40))': it has \(signs.keys.sorted().joined(separator: ", "))"
            )
        }
        guard Entry.members.contains(path) || path.hasPrefix("data.") && path.utf8.count > 5 else {
            throw StoreError(
                .invalid,
                "where names id, date, kind, source, data or data.NAME, and not '\(path.prefix(40))'"
            )
        }
        // These cannot be written in an SQLite path.
        guard path.utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) else {
            throw StoreError(.invalid, "a name in where has no quotation mark, no backslash and no control character")
        }
        guard sign == "IN" else { return Condition(path: path, sign: sign, values: [try bound(value, path)]) }
        guard let items = value.arrayValue, items.count <= 500 else {
            throw StoreError(.invalid, "the operator in takes an array of at most 500 values")
        }
        var values: [SQLValue] = []
        for item in items { values.append(try bound(item, path)) }
        return Condition(path: path, sign: sign, values: values)
    }

    private static func bound(_ value: JSONValue, _ path: String) throws(StoreError) -> SQLValue {
        if path == "date" { return .text("\(try Entry.date(value))") }
        return try SQLValue(value)
    }

    /// The statement, and the values to bind.
    func sql(_ columns: String, isCount: Bool) -> (String, [SQLValue]) {
        var words: [String] = []
        var values: [SQLValue] = []
        func add(_ condition: String, _ value: SQLValue) {
            words.append(condition)
            values.append(value)
        }
        if let kind { add("kind = ?", .text(kind)) }
        if let from { add("date >= ?", .text("\(from)")) }
        if let to { add("date < ?", .text("\(to)")) }
        if let afterID { add("id > ?", .integer(afterID)) }
        for condition in conditions {
            let marks = condition.values.map { _ in "?" }.joined(separator: ", ")
            if condition.path.hasPrefix("data") {
                words.append("json_extract(data, ?) \(condition.sign) (\(marks))")
                values.append(.text(Self.jsonPath(condition.path)))
            } else {
                words.append("\(condition.path) \(condition.sign) (\(marks))")
            }
            values += condition.values
        }
        var sql = "SELECT \(columns) FROM entries"
        if !words.isEmpty { sql += " WHERE \(words.joined(separator: " AND "))" }
        if isCount, let limit {
            return (
                "SELECT count(*) FROM (SELECT 1 \(sql.dropFirst("SELECT count(*) ".count)) LIMIT ?)",
                values + [.integer(Int64(limit))]
            )
        }
        if isCount { return (sql, values) }
        sql += " ORDER BY \(order.sql)"
        guard let limit else { return (sql, values) }
        return ("\(sql) LIMIT ?", values + [.integer(Int64(limit))])
    }

    /// `data.room.0` as SQLite writes it: `$."room"."0"`. A number also counts in an array, as `[0]`.
    private static func jsonPath(_ path: String) -> String {
        path.split(separator: ".", omittingEmptySubsequences: false).dropFirst().reduce("$") { path, name in
            let isIndex = !name.isEmpty && name.utf8.allSatisfy { (0x30...0x39).contains($0) }
            return path + (isIndex ? "[\(name)]" : ".\"\(name)\"")
        }
    }
}

extension SQLValue {
    /// A JSON value that SQLite can compare: not an array or an object.
    package init(_ value: JSONValue) throws(StoreError) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .integer(value ? 1 : 0)
        case .integer(let value): self = .integer(value)
        case .number(let value): self = .real(value)
        case .string(let value): self = .text(value)
        case .array, .object:
            throw StoreError(.invalid, "a value that is compared or bound is a text, a number, a boolean or null")
        }
    }

    /// As JSON: anything but text and numbers is null.
    func write(to buffer: OutputBuffer) {
        switch self {
        case .null: buffer.append("null")
        case .integer(let value): buffer.append(decimal: value)
        case .real(let value): buffer.append(value.isFinite ? "\(value)" : "null" as String)
        case .text(let value): buffer.append(json: value)
        }
    }
}
