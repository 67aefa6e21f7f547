internal import OrderedCollections

/// A JSON object. Members keep the order they were written in; if a name is repeated, its last value counts.
public struct JSONObject: Sendable, Hashable {
    private var members: OrderedDictionary<ByteName, JSONValue>

    /// An object without members.
    public init() { members = [:] }

    /// An object with these members; if several have the same name, the last one counts.
    public init(_ pairs: some Sequence<(String, JSONValue)>) {
        members = OrderedDictionary(pairs.lazy.map { (ByteName($0), $1) }, uniquingKeysWith: { _, last in last })
    }

    /// An object with these members, without those whose value is nil. In a condition, the other side is `.some(value)`: beside
    /// a value, `nil` is the literal of ``JSONValue/null``.
    package init(present pairs: KeyValuePairs<String, JSONValue?>) {
        self.init(pairs.compactMap { name, value in value.map { (name, $0) } })
    }

    /// The value of a member; assigning nil removes the member.
    public subscript(name: String) -> JSONValue? {
        get { members[ByteName(name)] }
        set { members[ByteName(name)] = newValue }
    }

    /// The names of the members, in their order.
    public var names: [String] { members.keys.map(\.text) }
    /// How many members there are.
    public var count: Int { members.count }
    /// Whether there are none.
    public var isEmpty: Bool { members.isEmpty }

    /// Adds the members of another object; those with the same name are replaced.
    public mutating func merge(_ other: JSONObject) {
        members.merge(other.members, uniquingKeysWith: { _, last in last })
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object with these members; if several have the same name, the last one counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}

extension JSONObject: Sequence {
    /// Goes through the members in their order.
    public struct Iterator: IteratorProtocol {
        fileprivate var members: OrderedDictionary<ByteName, JSONValue>.Iterator

        /// The next member; nil after the last.
        public mutating func next() -> (name: String, value: JSONValue)? {
            members.next().map { ($0.key.text, $0.value) }
        }
    }

    /// The members in their order.
    public func makeIterator() -> Iterator { Iterator(members: members.makeIterator()) }
    /// How many members there are.
    public var underestimatedCount: Int { members.count }
}
