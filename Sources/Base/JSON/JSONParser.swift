/// Why bytes are not a JSON value.
public enum JSONError: Error, Sendable, Equatable {
    /// Not JSON: what is wrong, and the byte offset (from 0).
    case syntax(String, offset: Int)
    /// JSON, but a value that cannot be stored exactly: a number beyond the range of a double, or a lone surrogate.
    case unrepresentable(String, offset: Int)
    /// Arrays and objects are nested deeper than the limit.
    case tooDeep(limit: Int)

    /// What is wrong, and at which byte offset.
    public var message: String {
        switch self {
        case .syntax(let what, let offset), .unrepresentable(let what, let offset): "\(what) at byte \(offset)"
        case .tooDeep(let limit): "more than \(limit) arrays and objects inside each other"
        }
    }
}

/// A strict parser of one JSON text (RFC 8259) in UTF-8: a ``JSONScanner`` checks it, then its value is built.
///
/// The project has its own because it runs on the listener's event loop: it takes linear time, fails only with
/// ``JSONError``, reports excessive depth apart from syntax errors, and keeps the order of members and 64-bit integers.
public enum JSONParser {
    /// How deep arrays and objects may be nested unless the caller gives another limit.
    public static let defaultDepth = 512

    /// Parses the one value in the bytes, which white space may surround.
    public static func parse(
        _ bytes: borrowing Span<UInt8>,
        maximumDepth: Int = JSONParser.defaultDepth
    ) throws(JSONError) -> JSONValue {
        let result = bytes.withUnsafeBufferPointer { bytes in
            Result { () throws(JSONError) in try parse(bytes, maximumDepth: maximumDepth) }
        }
        return try result.get()
    }

    /// Parses a text.
    public static func parse(_ text: String, maximumDepth: Int = JSONParser.defaultDepth) throws(JSONError) -> JSONValue
    {
        let bytes = Array(text.utf8)
        return try parse(bytes.span, maximumDepth: maximumDepth)
    }

    private static func parse(
        _ bytes: UnsafeBufferPointer<UInt8>,
        maximumDepth: Int
    ) throws(JSONError) -> JSONValue {
        var scanner = JSONScanner(bytes, maximumDepth: maximumDepth)
        scanner.skipWhiteSpace()
        let start = scanner.position
        try scanner.skipValue()
        let end = scanner.position
        try scanner.finish()
        if let problem = scanner.problem { throw problem.error }
        return JSONValue(checked: UnsafeBufferPointer(rebasing: bytes[start..<end]))
    }
}
