/// Why bytes are not a JSON value.
public enum JSONError: Error, Sendable, Equatable {
    /// Not JSON: what is wrong, and at which byte (from 0).
    case syntax(String, offset: Int)
    /// JSON, but a value that cannot be kept as it is: a number beyond a double, half a surrogate pair.
    case unrepresentable(String, offset: Int)
    /// More arrays and objects inside each other than the limit.
    case tooDeep(limit: Int)

    public var message: String {
        switch self {
        case .syntax(let what, let offset), .unrepresentable(let what, let offset): "\(what) at byte \(offset)"
        case .tooDeep(let limit): "more than \(limit) arrays and objects inside each other"
        }
    }
}

/// A strict parser of one JSON text (RFC 8259) in UTF-8.
///
/// It is here, and not a library's, because it stands in the listener's event loop: it is linear in time, knows
/// no failure but ``JSONError``, tells depth from syntax, and keeps the order of members and 64-bit integers.
public struct JSONParser {
    /// Arrays and objects inside each other, where nobody says another limit.
    public static let defaultDepth = 512

    private var position = 0
    private let maximumDepth: Int
    /// The first value that is JSON but cannot be kept. `null` stands in for it, and reading goes on: what follows
    /// may be no JSON at all, and the rest of a message tells whose it is.
    private var problem: JSONError?
    /// The first problem of each item, where the text is an array.
    private var itemProblems: [Int: JSONError] = [:]

    private init(maximumDepth: Int) { self.maximumDepth = maximumDepth }

    /// The one value that the bytes hold, white space around it allowed.
    public static func parse(
        _ bytes: borrowing Span<UInt8>,
        maximumDepth: Int = JSONParser.defaultDepth
    ) throws(JSONError) -> JSONValue {
        let text = try read(bytes, maximumDepth: maximumDepth)
        if let problem = text.problem ?? text.itemProblems.min(by: { $0.key < $1.key })?.value { throw problem }
        return text.value
    }

    public static func parse(_ text: String, maximumDepth: Int = JSONParser.defaultDepth) throws(JSONError) -> JSONValue
    {
        let bytes = Array(text.utf8)
        return try parse(bytes.span, maximumDepth: maximumDepth)
    }

    /// JSON with values in it that cannot be kept, `null` in their places.
    package struct Text {
        package var value: JSONValue
        package var problem: JSONError?
        /// By the index of the item, where the value is an array.
        package var itemProblems: [Int: JSONError]
    }

    /// As `parse`, but throws only where the bytes are no JSON.
    package static func read(_ bytes: borrowing Span<UInt8>, maximumDepth: Int) throws(JSONError) -> Text {
        var parser = JSONParser(maximumDepth: maximumDepth)
        parser.skipWhiteSpace(bytes)
        let value = try parser.value(bytes, depth: 0)
        parser.skipWhiteSpace(bytes)
        guard parser.position == bytes.count else { throw parser.syntax("unexpected text after the value") }
        return Text(value: value, problem: parser.problem, itemProblems: parser.itemProblems)
    }

    /// As `read`, for a text that is one object: its members are given one by one, and no object is made.
    /// - Returns: the first problem.
    package static func readObject(
        _ bytes: borrowing Span<UInt8>,
        maximumDepth: Int,
        take: (String, JSONValue) -> Void
    ) throws(JSONError) -> JSONError? {
        var parser = JSONParser(maximumDepth: maximumDepth)
        parser.skipWhiteSpace(bytes)
        try parser.members(bytes, depth: 1, take)
        parser.skipWhiteSpace(bytes)
        guard parser.position == bytes.count else { throw parser.syntax("unexpected text after the value") }
        return parser.problem
    }

    // MARK: Values

    private mutating func value(_ bytes: borrowing Span<UInt8>, depth: Int) throws(JSONError) -> JSONValue {
        guard let first = peek(bytes) else { throw syntax("a value is missing") }
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard depth < maximumDepth else { return try tooDeep(bytes) }
            if first == UInt8(ascii: "{") { return .object(try object(bytes, depth: depth + 1)) }
            return .array(try array(bytes, depth: depth + 1))
        case UInt8(ascii: "\""):
            let text = try string(bytes)
            return problem != nil && text.unicodeScalars.contains(Self.replacement) ? .null : .string(text)
        case UInt8(ascii: "t"): return try literal("true", .bool(true), bytes)
        case UInt8(ascii: "f"): return try literal("false", .bool(false), bytes)
        case UInt8(ascii: "n"): return try literal("null", .null, bytes)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number(bytes)
        default: throw syntax("unexpected character")
        }
    }

    private mutating func object(_ bytes: borrowing Span<UInt8>, depth: Int) throws(JSONError) -> JSONObject {
        var members: JSONObject = [:]
        try self.members(bytes, depth: depth) { members[$0] = $1 }
        return members
    }

    private mutating func members(
        _ bytes: borrowing Span<UInt8>,
        depth: Int,
        _ take: (String, JSONValue) -> Void
    ) throws(JSONError) {
        position += 1
        skipWhiteSpace(bytes)
        if skip(UInt8(ascii: "}"), bytes) { return }
        while true {
            skipWhiteSpace(bytes)
            guard peek(bytes) == UInt8(ascii: "\"") else { throw syntax("a member name is missing") }
            let name = try string(bytes)
            skipWhiteSpace(bytes)
            guard skip(UInt8(ascii: ":"), bytes) else { throw syntax("':' is missing") }
            skipWhiteSpace(bytes)
            take(name, try value(bytes, depth: depth))
            skipWhiteSpace(bytes)
            if skip(UInt8(ascii: "}"), bytes) { return }
            guard skip(UInt8(ascii: ","), bytes) else { throw syntax("',' or '}' is missing") }
        }
    }

    private mutating func array(_ bytes: borrowing Span<UInt8>, depth: Int) throws(JSONError) -> [JSONValue] {
        position += 1
        var items: [JSONValue] = []
        skipWhiteSpace(bytes)
        if skip(UInt8(ascii: "]"), bytes) { return items }
        while true {
            skipWhiteSpace(bytes)
            items.append(try value(bytes, depth: depth))
            if depth == 1, let problem {
                itemProblems[items.count - 1] = problem
                self.problem = nil
            }
            skipWhiteSpace(bytes)
            if skip(UInt8(ascii: "]"), bytes) { return items }
            guard skip(UInt8(ascii: ","), bytes) else { throw syntax("',' or ']' is missing") }
        }
    }

    /// Passes over an array or object that is too deep, without recursion and without a look at its grammar.
    private mutating func tooDeep(_ bytes: borrowing Span<UInt8>) throws(JSONError) -> JSONValue {
        var depth = 0
        while let byte = peek(bytes) {
            if byte == UInt8(ascii: "\"") {
                _ = try string(bytes)
                continue
            }
            position += 1
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: continue
            }
            if depth == 0 { return note(.tooDeep(limit: maximumDepth)) }
        }
        throw .tooDeep(limit: maximumDepth)
    }

    /// Notes a value that cannot be kept, and gives what stands in for it.
    private mutating func note(_ error: JSONError) -> JSONValue {
        problem = problem ?? error
        return .null
    }

    private mutating func literal(
        _ text: StaticString,
        _ value: JSONValue,
        _ bytes: borrowing Span<UInt8>
    ) throws(JSONError) -> JSONValue {
        let matches = text.withUTF8Buffer { expected in
            guard bytes.count - position >= expected.count else { return false }
            for index in expected.indices where bytes[position + index] != expected[index] { return false }
            return true
        }
        guard matches else { throw syntax("unexpected character") }
        position += text.utf8CodeUnitCount
        return value
    }

    // MARK: Numbers

    private mutating func number(_ bytes: borrowing Span<UInt8>) throws(JSONError) -> JSONValue {
        let start = position
        _ = skip(UInt8(ascii: "-"), bytes)
        if !skip(UInt8(ascii: "0"), bytes) { try digits(bytes) }
        var isInteger = true
        if skip(UInt8(ascii: "."), bytes) {
            isInteger = false
            try digits(bytes)
        }
        if let exponent = peek(bytes), exponent | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            position += 1
            if !skip(UInt8(ascii: "+"), bytes) { _ = skip(UInt8(ascii: "-"), bytes) }
            try digits(bytes)
        }
        let text = String(decoding: bytes.extracting(start..<position))
        if isInteger, text != "-0", let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else {
            return note(.unrepresentable("a number too large for a double", offset: start))
        }
        return .number(number)
    }

    private mutating func digits(_ bytes: borrowing Span<UInt8>) throws(JSONError) {
        let start = position
        while let digit = peek(bytes), digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") { position += 1 }
        guard position > start else { throw syntax("a digit is missing") }
    }

    // MARK: Strings

    private mutating func string(_ bytes: borrowing Span<UInt8>) throws(JSONError) -> String {
        position += 1
        let start = position
        while let byte = peek(bytes) {
            switch byte {
            case UInt8(ascii: "\""):
                let text = try utf8(bytes.extracting(start..<position), at: start)
                position += 1
                return text
            case UInt8(ascii: "\\"): return try escapedString(bytes, from: start)
            case 0..<0x20: throw syntax("a control character in a string")
            default: position += 1
            }
        }
        throw syntax("a string does not end")
    }

    private mutating func escapedString(
        _ bytes: borrowing Span<UInt8>,
        from start: Int
    ) throws(JSONError) -> String {
        var text: [UInt8] = []
        text.append(copying: bytes.extracting(start..<position))
        while let byte = peek(bytes) {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return try utf8(text.span, at: start)
            case UInt8(ascii: "\\"): try escape(bytes, into: &text)
            case 0..<0x20: throw syntax("a control character in a string")
            default:
                text.append(byte)
                position += 1
            }
        }
        throw syntax("a string does not end")
    }

    private mutating func escape(_ bytes: borrowing Span<UInt8>, into text: inout [UInt8]) throws(JSONError) {
        position += 1
        guard let kind = peek(bytes) else { throw syntax("a string does not end") }
        position += 1
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(kind)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: String(Character(try unicodeScalar(bytes))).utf8)
        default:
            position -= 1
            throw syntax("an unknown escape")
        }
    }

    private mutating func unicodeScalar(_ bytes: borrowing Span<UInt8>) throws(JSONError) -> Unicode.Scalar {
        let start = position - 2
        let first = try codeUnit(bytes)
        if let scalar = Unicode.Scalar(first) { return scalar }
        let next = position
        if UTF16.isLeadSurrogate(first), skip(UInt8(ascii: "\\"), bytes), skip(UInt8(ascii: "u"), bytes) {
            let second = try codeUnit(bytes)
            if UTF16.isTrailSurrogate(second) { return UTF16.decode(UTF16.EncodedScalar([first, second])) }
        }
        position = next
        _ = note(.unrepresentable("half a surrogate pair", offset: start))
        return Self.replacement
    }

    private static let replacement: Unicode.Scalar = "\u{FFFD}"

    private mutating func codeUnit(_ bytes: borrowing Span<UInt8>) throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = peek(bytes), let digit = hexadecimalDigit(byte) else {
                throw syntax("\\u needs four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    // MARK: Bytes

    private func utf8(_ bytes: borrowing Span<UInt8>, at offset: Int) throws(JSONError) -> String {
        guard let text = String(validating: bytes) else { throw .syntax("a string is not UTF-8", offset: offset) }
        return text
    }

    private func peek(_ bytes: borrowing Span<UInt8>) -> UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    private mutating func skip(_ byte: UInt8, _ bytes: borrowing Span<UInt8>) -> Bool {
        guard peek(bytes) == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipWhiteSpace(_ bytes: borrowing Span<UInt8>) {
        while let byte = peek(bytes), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private func syntax(_ what: String) -> JSONError { .syntax(what, offset: position) }
}
