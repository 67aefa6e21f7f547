internal import Glibc

/// A name compared byte for byte. Swift's `String` treats é and e with a combining accent as equal; in the protocol, in
/// JSON and in a file system they are two names.
public struct ByteName: Hashable, Sendable {
    /// The name.
    public let text: String

    /// A name that is compared by its bytes.
    public init(_ text: String) { self.text = text }

    /// Whether both have the same bytes.
    public static func == (left: ByteName, right: ByteName) -> Bool {
        guard left.text.utf8.count == right.text.utf8.count else { return false }
        let isSame = left.text.utf8.withContiguousStorageIfAvailable { left in
            right.text.utf8.withContiguousStorageIfAvailable { right in
                guard let first = left.baseAddress, let second = right.baseAddress else { return left.isEmpty }
                return memcmp(first, second, left.count) == 0
            }
        }
        return (isSame ?? nil) ?? left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Hashes the bytes, consistent with `==`.
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
