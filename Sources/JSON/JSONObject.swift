internal import OrderedCollections

/// A JSON object. Members keep the order they were written in; of a repeated name the last value counts.
public struct JSONObject: Sendable, Hashable {
    /// A member's name, the same as another only byte for byte: to a Swift `String`, é and e with an accent behind
    /// it are the same, to JSON they are two members.
    fileprivate struct Name: Hashable {
        let text: String

        static func == (left: Name, right: Name) -> Bool {
            guard left.text.utf8.count == right.text.utf8.count else { return false }
            let isSame = left.text.utf8.withContiguousStorageIfAvailable { left in
                right.text.utf8.withContiguousStorageIfAvailable { right in
                    left.elementsEqual(right)
                }
            }
            return (isSame ?? nil) ?? left.text.utf8.elementsEqual(right.text.utf8)
        }

        func hash(into hasher: inout Hasher) {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    private var members: OrderedDictionary<Name, JSONValue>

    public init() { members = [:] }

    public init(_ pairs: some Sequence<(String, JSONValue)>) {
        members = OrderedDictionary(pairs.lazy.map { (Name(text: $0), $1) }, uniquingKeysWith: { _, last in last })
    }

    /// The value of a member; assigning nil takes the member out.
    public subscript(name: String) -> JSONValue? {
        get { members[Name(text: name)] }
        set { members[Name(text: name)] = newValue }
    }

    public var names: [String] { members.keys.map(\.text) }
    public var isEmpty: Bool { members.isEmpty }

    /// Adds the members of another object; those with the same name are replaced.
    public mutating func merge(_ other: JSONObject) {
        members.merge(other.members, uniquingKeysWith: { _, last in last })
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}

extension JSONObject: Sequence {
    public struct Iterator: IteratorProtocol {
        fileprivate var members: OrderedDictionary<Name, JSONValue>.Iterator

        public mutating func next() -> (name: String, value: JSONValue)? {
            members.next().map { ($0.key.text, $0.value) }
        }
    }

    public func makeIterator() -> Iterator { Iterator(members: members.makeIterator()) }
    public var underestimatedCount: Int { members.count }
}
