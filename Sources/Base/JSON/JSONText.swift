/// A JSON value as the bytes it was received as, checked but not built: a part of a ``SharedBytes``.
///
/// Keeping, copying or passing it on costs the same whatever its size. Values are built when they are asked for.
public struct JSONText: Sendable {
    private let storage: SharedBytes
    private let start: Int32
    private let end: Int32

    /// Bytes that a ``JSONScanner`` has checked as one value, without white space around it.
    public init(checked storage: SharedBytes, _ range: Range<Int>) {
        self.storage = storage
        start = Int32(truncatingIfNeeded: range.lowerBound)
        end = Int32(truncatingIfNeeded: range.upperBound)
    }

    /// How many bytes it has.
    public var count: Int { Int(end - start) }

    /// Gives `body` the bytes of the text.
    public func withBytes<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // The pointer alone does not keep the storage alive.
        defer { withExtendedLifetime(storage) {} }
        return try body(storage.slice(Int(start)..<Int(end)))
    }

    /// The kind of value, determined by its first byte.
    public var kind: JSONKind { withBytes { JSONKind(firstByte: $0.first) } }

    /// Whether it is null.
    public var isNull: Bool { kind == .null }

    /// Builds the value.
    public var value: JSONValue { withBytes { JSONValue(checked: $0) } }

    /// The text of a string; nil for another kind of value, which is not built.
    public var stringValue: String? { withBytes { String(checkedJSONString: $0) } }

    /// The number, if it is a whole one.
    public var integerValue: Int64? { kind == .number ? value.integerValue : nil }

    /// The number, if it is one.
    public var numberValue: Double? { kind == .number ? value.numberValue : nil }

    /// Calls `body` with each member of an object until it returns false, without building values. A name that occurs
    /// twice is passed twice.
    /// - Returns: false if this is not an object.
    @discardableResult
    public func forEachMember(_ body: (String, JSONText) -> Bool) -> Bool {
        guard kind == .object else { return false }
        withBytes { bytes in
            var scanner = JSONScanner(bytes, maximumDepth: .max)
            _ = scanner.skip(UInt8(ascii: "{"))
            scanner.skipWhiteSpace()
            // The bytes are checked: nothing here can fail.
            while scanner.next == UInt8(ascii: "\""), let range = try? scanner.name() {
                let name = String(checkedJSON: UnsafeBufferPointer(rebasing: bytes[range]))
                scanner.skipWhiteSpace()
                let first = scanner.position
                guard (try? scanner.skipValue()) != nil, body(name, part(first..<scanner.position)) else { return }
                scanner.skipWhiteSpace()
                guard scanner.skip(UInt8(ascii: ",")) else { return }
                scanner.skipWhiteSpace()
            }
        }
        return true
    }

    /// Calls `body` with each item of an array until it returns false, without building values.
    /// - Returns: false if this is not an array.
    @discardableResult
    public func forEachItem(_ body: (JSONText) -> Bool) -> Bool {
        guard kind == .array else { return false }
        withBytes { bytes in
            var scanner = JSONScanner(bytes, maximumDepth: .max)
            _ = scanner.skip(UInt8(ascii: "["))
            scanner.skipWhiteSpace()
            // The bytes are checked: nothing here can fail.
            while let next = scanner.next, next != UInt8(ascii: "]") {
                let first = scanner.position
                guard (try? scanner.skipValue()) != nil, body(part(first..<scanner.position)) else { return }
                scanner.skipWhiteSpace()
                guard scanner.skip(UInt8(ascii: ",")) else { return }
                scanner.skipWhiteSpace()
            }
        }
        return true
    }

    private func part(_ range: Range<Int>) -> JSONText {
        JSONText(checked: storage, (Int(start) + range.lowerBound)..<(Int(start) + range.upperBound))
    }
}

/// The kinds of JSON values.
public enum JSONKind: Sendable {
    case null, boolean, number, string, array, object

    /// The kind of a checked text that begins with this byte.
    public init(firstByte: UInt8?) {
        self =
            switch firstByte {
            case UInt8(ascii: "\""): .string
            case UInt8(ascii: "["): .array
            case UInt8(ascii: "{"): .object
            case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
            case UInt8(ascii: "n"), nil: .null
            default: .number
            }
    }
}
