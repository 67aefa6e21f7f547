/// Checks JSON without making values (RFC 8259): strict, linear in time, without recursion.
///
/// It tells what is no JSON at all from JSON that cannot be kept as it is (``problem``): reading goes on behind that, for
/// the rest of a message tells whose it is. The bytes must stay where they are while it is used.
public struct JSONScanner {
    @usableFromInline let bytes: UnsafeBufferPointer<UInt8>
    private let maximumDepth: Int
    public private(set) var position = 0
    /// The first value that is JSON and cannot be kept: a number beyond a double, half a surrogate pair, too deep.
    public private(set) var problem: JSONError?

    public init(_ bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int = JSONParser.defaultDepth) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
    }

    /// The next byte, which is not taken.
    @inline(__always)
    public var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    public var isAtEnd: Bool { position == bytes.count }

    /// Takes a byte, where it is the next one.
    @inline(__always)
    public mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    @inline(__always)
    public mutating func skipWhiteSpace() {
        // Mostly there is none.
        if position < bytes.count, bytes[position] <= 0x20 { skipSomeWhiteSpace() }
    }

    private mutating func skipSomeWhiteSpace() {
        while position < bytes.count, isWhiteSpace(bytes[position]) { position += 1 }
    }

    private func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    /// Throws where anything but white space is left.
    public mutating func finish() throws(JSONError) {
        skipWhiteSpace()
        guard isAtEnd else { throw syntax("unexpected text after the value") }
    }

    public func syntax(_ what: String) -> JSONError { .syntax(what, offset: position) }

    /// Forgets the problem, for the next of several messages.
    public mutating func takeProblem() -> JSONError? {
        defer { problem = nil }
        return problem
    }

    private mutating func note(_ error: JSONError) { problem = problem ?? error }

    // MARK: Values

    /// Passes over one value.
    /// - Parameter depth: how many arrays and objects it stands in.
    public mutating func skipValue(depth: Int = 0) throws(JSONError) {
        skipWhiteSpace()
        // Most values are no arrays and no objects.
        if try scalar() { return }
        try skipContainer(depth: depth)
    }

    private mutating func skipContainer(depth: Int) throws(JSONError) {
        var open = Nesting()
        while true {
            guard try begin(&open, depth: depth) else { continue }
            while true {
                if open.count == 0 { return }
                skipWhiteSpace()
                if skip(UInt8(ascii: ",")) {
                    if open.isObject { try memberName() }
                    break
                }
                guard skip(open.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    throw syntax(open.isObject ? "',' or '}' is missing" : "',' or ']' is missing")
                }
                open.pop()
            }
        }
    }

    /// Passes over a whole value, or over the beginning of an array or object that has something in it.
    /// - Returns: whether a value is over.
    @inline(__always)
    private mutating func begin(_ open: inout Nesting, depth: Int) throws(JSONError) -> Bool {
        skipWhiteSpace()
        if try scalar() { return true }
        guard depth + open.count < maximumDepth else {
            try skipTooDeep()
            return true
        }
        let isObject = next == UInt8(ascii: "{")
        position += 1
        skipWhiteSpace()
        if skip(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) { return true }
        open.push(isObject: isObject)
        if isObject { try memberName() }
        return false
    }

    /// Passes over a value that is no array and no object.
    /// - Returns: false where one of those begins.
    @inline(__always)
    private mutating func scalar() throws(JSONError) -> Bool {
        guard let first = next else { throw syntax("a value is missing") }
        switch first {
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "["), UInt8(ascii: "{"): return false
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        default: throw syntax("unexpected character")
        }
        return true
    }

    private mutating func memberName() throws(JSONError) { _ = try name() }

    /// Takes a member's name and the colon behind it.
    /// - Returns: where the text between the quotes is.
    public mutating func name() throws(JSONError) -> Range<Int> {
        skipWhiteSpace()
        guard next == UInt8(ascii: "\"") else { throw syntax("a member name is missing") }
        let range = try string()
        skipWhiteSpace()
        guard skip(UInt8(ascii: ":")) else { throw syntax("':' is missing") }
        return range
    }

    /// Passes over an array, telling where each of its items is.
    /// - Parameter depth: how many arrays and objects it stands in.
    public mutating func skipArray(depth: Int, _ take: (Range<Int>) -> Void) throws(JSONError) {
        try forEachItem(depth: depth, take)
    }

    /// Passes over an array, keeping where each of its items is.
    /// - Parameter offset: what to add to the places.
    package mutating func skipItems(depth: Int, offset: Int, into items: inout JSONItems) throws(JSONError) {
        try forEachItem(depth: depth) { items.append(($0.lowerBound + offset)..<($0.upperBound + offset)) }
    }

    @inline(__always)
    private mutating func forEachItem(depth: Int, _ take: (Range<Int>) -> Void) throws(JSONError) {
        guard depth < maximumDepth else { return try skipTooDeep() }
        position += 1
        skipWhiteSpace()
        if skip(UInt8(ascii: "]")) { return }
        while true {
            skipWhiteSpace()
            let start = position
            try skipValue(depth: depth + 1)
            take(start..<position)
            skipWhiteSpace()
            if skip(UInt8(ascii: "]")) { return }
            guard skip(UInt8(ascii: ",")) else { throw syntax("',' or ']' is missing") }
        }
    }

    /// Passes over an object, leaving each member's value to `take`, which is told where its name is.
    public mutating func skipObject(
        _ take: (inout JSONScanner, _ name: Range<Int>) throws(JSONError) -> Void
    ) throws(JSONError) {
        position += 1
        skipWhiteSpace()
        if skip(UInt8(ascii: "}")) { return }
        while true {
            let name = try name()
            skipWhiteSpace()
            try take(&self, name)
            skipWhiteSpace()
            if skip(UInt8(ascii: "}")) { return }
            guard skip(UInt8(ascii: ",")) else { throw syntax("',' or '}' is missing") }
        }
    }

    private mutating func literal(_ text: StaticString) throws(JSONError) {
        let length = text.utf8CodeUnitCount
        guard bytes.count - position >= length else { throw syntax("unexpected character") }
        for index in 0..<length where bytes[position + index] != text.utf8Start[index] {
            throw syntax("unexpected character")
        }
        position += length
    }

    /// Passes over an array or object that is too deep, without a look at its grammar.
    private mutating func skipTooDeep() throws(JSONError) {
        var depth = 0
        while let byte = next {
            if byte == UInt8(ascii: "\"") {
                _ = try string()
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

    // MARK: Numbers

    @inline(__always)
    private mutating func number() throws(JSONError) {
        let end = endOfDigits(from: position)
        // Most are whole, without a sign, and their digits are all there is to look at.
        if end - position == 1 || end - position > 1 && bytes[position] != UInt8(ascii: "0"), !isPartOfNumber(at: end),
            end - position < 300
        {
            position = end
        } else {
            try anyNumber()
        }
    }

    private func isPartOfNumber(at index: Int) -> Bool {
        guard index < bytes.count else { return false }
        return bytes[index] == UInt8(ascii: ".") || bytes[index] | 0x20 == UInt8(ascii: "e")
    }

    private mutating func anyNumber() throws(JSONError) {
        let start = position
        _ = skip(UInt8(ascii: "-"))
        let whole = position
        if !skip(UInt8(ascii: "0")) { try digits() }
        var magnitude = position - whole
        if skip(UInt8(ascii: ".")) { try digits() }
        if let exponent = next, exponent | 0x20 == UInt8(ascii: "e") {
            position += 1
            let isNegative = skip(UInt8(ascii: "-"))
            if !isNegative { _ = skip(UInt8(ascii: "+")) }
            let first = position
            try digits()
            if !isNegative { magnitude += value(of: first..<position) }
        }
        // What is surely below 1e300 need not be worked out.
        guard magnitude > 300 else { return }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard let number = Double(text), number.isFinite else {
            return note(.unrepresentable("a number too large for a double", offset: start))
        }
    }

    /// What some digits say, not exact where it is very large.
    private func value(of digits: Range<Int>) -> Int {
        var value = 0
        for byte in bytes[digits] where value < 1_000_000 { value = value * 10 + Int(byte - UInt8(ascii: "0")) }
        return value
    }

    @inline(__always)
    private mutating func digits() throws(JSONError) {
        let start = position
        position = endOfDigits(from: start)
        guard position > start else { throw syntax("a digit is missing") }
    }

    @inline(__always)
    private func endOfDigits(from start: Int) -> Int {
        var position = start
        while position < bytes.count, bytes[position] &- UInt8(ascii: "0") <= 9 { position += 1 }
        return position
    }

    // MARK: Strings

    /// Passes over a string.
    /// - Returns: where the text between its quotes is.
    @inline(__always)
    public mutating func string() throws(JSONError) -> Range<Int> {
        let start = position + 1
        position = endOfPlainText(from: start)
        if !skip(UInt8(ascii: "\"")) { try restOfString(from: start) }
        return Range(uncheckedBounds: (start, position - 1))
    }

    /// Passes over what is left of a string that begins with plain text.
    private mutating func restOfString(from start: Int) throws(JSONError) {
        while true {
            guard let byte = next else { throw syntax("a string does not end") }
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"): try escape()
            case 0..<0x20: throw syntax("a control character in a string")
            case 0x80...: try scalar(inStringFrom: start)
            default: position += 1
            }
            position = endOfPlainText(from: position)
        }
    }

    /// Passes over ASCII without quotes, escapes and control characters, eight bytes at a time.
    /// - Returns: where the first other byte is.
    @inline(__always)
    private func endOfPlainText(from start: Int) -> Int {
        guard let base = bytes.baseAddress else { return start }
        // A local one stays in a register.
        var position = start
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops: UInt64 = 0x8080_8080_8080_8080
        while position + 8 <= bytes.count {
            let word = UnsafeRawPointer(base + position).loadUnaligned(as: UInt64.self)
            let quote = word ^ (ones &* 0x22)
            let escape = word ^ (ones &* 0x5C)
            // A byte of these has its top bit set where it was 0, below 0x20, or above 0x7F; of the bytes above such a one
            // it may be set, too.
            let found = (quote &- ones) & ~quote | (escape &- ones) & ~escape | (word &- ones &* 0x20) & ~word | word
            if found & tops != 0 {
                return position + (found & tops).trailingZeroBitCount >> 3
            }
            position += 8
        }
        while position < bytes.count {
            let byte = bytes[position]
            guard byte >= 0x20, byte < 0x80, byte != 0x22, byte != 0x5C else { break }
            position += 1
        }
        return position
    }

    private mutating func escape() throws(JSONError) {
        position += 1
        guard let kind = next else { throw syntax("a string does not end") }
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            position += 1
            try surrogates()
        default: throw syntax("an unknown escape")
        }
    }

    /// Passes over the digits of `\u`, and over the second half of a pair.
    private mutating func surrogates() throws(JSONError) {
        let start = position - 2
        let first = try codeUnit()
        if Unicode.Scalar(first) != nil { return }
        let behind = position
        if UTF16.isLeadSurrogate(first), skip(UInt8(ascii: "\\")), skip(UInt8(ascii: "u")),
            UTF16.isTrailSurrogate(try codeUnit())
        {
            return
        }
        position = behind
        note(.unrepresentable("half a surrogate pair", offset: start))
    }

    private mutating func codeUnit() throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = hexadecimalDigit(byte) else {
                throw syntax("four hexadecimal digits are missing")
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    /// Passes over one character of several bytes.
    private mutating func scalar(inStringFrom start: Int) throws(JSONError) {
        let length = UTF8Text.length(at: position, in: bytes)
        guard length > 0 else { throw .syntax("a string is not UTF-8", offset: start) }
        position += length
    }

    /// The arrays and objects that are open: a bit each, set for an object.
    private struct Nesting {
        private(set) var count = 0
        private var bits: UInt64 = 0
        private var outer: [UInt64]?

        /// Whether the innermost one is an object.
        var isObject: Bool { bits & 1 == 1 }

        mutating func push(isObject: Bool) {
            if count & 63 == 0, count > 0 {
                if outer == nil { outer = [] }
                outer?.append(bits)
                bits = 0
            }
            bits = bits << 1 | (isObject ? 1 : 0)
            count += 1
        }

        mutating func pop() {
            bits >>= 1
            count -= 1
            if count & 63 == 0, count > 0 { bits = outer?.removeLast() ?? 0 }
        }
    }
}
