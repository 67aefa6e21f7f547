/// A name as a key: the same as another only byte for byte. To a Swift `String`, é and e with an accent behind it are
/// the same; to the wire, to JSON and to a file system they are two names.
public struct ByteName: Hashable, Sendable {
    /// The name.
    public let text: String

    /// A name that is compared by its bytes.
    public init(_ text: String) { self.text = text }

    /// Whether both have the same bytes.
    public static func == (left: ByteName, right: ByteName) -> Bool {
        guard left.text.utf8.count == right.text.utf8.count else { return false }
        let isSame = left.text.utf8.withContiguousStorageIfAvailable { left in
            right.text.utf8.withContiguousStorageIfAvailable { right in left.elementsEqual(right) }
        }
        return (isSame ?? nil) ?? left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Goes by the bytes, as equality does.
    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension ByteName: ExpressibleByStringLiteral, CustomStringConvertible {
    /// A name that is compared by its bytes.
    public init(stringLiteral text: String) { self.init(text) }
    /// The name.
    public var description: String { text }
}
