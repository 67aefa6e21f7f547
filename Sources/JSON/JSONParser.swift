/// Why bytes are not a JSON value.
public enum JSONError: Error, Sendable, Equatable {
    /// Not JSON: what is wrong, and at which byte (from 0).
    case syntax(String, offset: Int)
    /// JSON, but a value that cannot be kept as it is: a number beyond a double, half a surrogate pair.
    case unrepresentable(String, offset: Int)
    /// More arrays and objects inside each other than the limit.
    case tooDeep(limit: Int)

    /// What is wrong, and at which byte.
    public var message: String {
        switch self {
        case .syntax(let what, let offset), .unrepresentable(let what, let offset): "\(what) at byte \(offset)"
        case .tooDeep(let limit): "more than \(limit) arrays and objects inside each other"
        }
    }
}

/// A strict parser of one JSON text (RFC 8259) in UTF-8: a ``JSONScanner`` checks it, then its value is built.
///
/// It is here, and not a library's, because it stands in the listener's event loop: it is linear in time, knows
/// no failure but ``JSONError``, tells depth from syntax, and keeps the order of members and 64-bit integers.
public enum JSONParser {
    /// Arrays and objects inside each other, where nobody says another limit.
    public static let defaultDepth = 512

    /// The one value that the bytes hold, white space around it allowed.
    public static func parse(
        _ bytes: borrowing Span<UInt8>,
        maximumDepth: Int = JSONParser.defaultDepth
    ) throws(JSONError) -> JSONValue {
        let result = bytes.withUnsafeBufferPointer { bytes in
            Result { () throws(JSONError) in try parse(bytes, maximumDepth: maximumDepth) }
        }
        return try result.get()
    }

    /// Reads a text.
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
