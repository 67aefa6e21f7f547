/// Checks JSON (RFC 8259) without building values: strict, in linear time, without recursion.
///
/// It tells input that is not JSON from JSON whose value cannot be stored exactly (``problem``). After such a value it
/// reads on, since the rest of the message says whose it is. The bytes must not move while it is used.
public struct JSONScanner {
    @usableFromInline let bytes: UnsafeBufferPointer<UInt8>
    private let maximumDepth: Int
    /// How many bytes have been read.
    public internal(set) var position = 0
    /// The first value that is valid JSON but cannot be stored.
    public private(set) var problem: Problem?

    /// Why a value cannot be stored. It has no text and no reference, so copying it is cheap.
    public enum Problem: Sendable, Equatable {
        /// Arrays and objects are nested too deep.
        case tooDeep(limit: Int)
        /// A number beyond the range of a double.
        case number(offset: Int)
        /// A lone surrogate.
        case halfPair(offset: Int)

        /// The problem as an error, at the current position.
        public var error: JSONError {
            switch self {
            case .tooDeep(let limit): .tooDeep(limit: limit)
            case .number(let offset): .unrepresentable("a number too large for a double", offset: offset)
            case .halfPair(let offset): .unrepresentable("half a surrogate pair", offset: offset)
            }
        }
    }

    /// A scanner of bytes that must outlive it.
    public init(_ bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int = JSONParser.defaultDepth) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
    }

    /// The next byte, without consuming it.
    @inline(__always)
    public var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Whether all has been read.
    public var isAtEnd: Bool { position == bytes.count }

    /// Consumes the byte if it is the next one.
    @inline(__always)
    public mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    /// Skips white space.
    @inline(__always)
    public mutating func skipWhiteSpace() { position = endOfWhiteSpace(at: position) }

    private func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    /// Throws if anything but white space is left.
    public mutating func finish() throws(JSONError) {
        skipWhiteSpace()
        guard isAtEnd else { throw syntax("unexpected text after the value") }
    }

    /// A syntax error at the current position.
    public func syntax(_ what: String) -> JSONError { .syntax(what, offset: position) }

    mutating func note(_ problem: Problem) { self.problem = self.problem ?? problem }

    // MARK: Values

    /// Skips one value.
    /// - Parameter depth: how many arrays and objects it is nested in.
    public mutating func skipValue(depth: Int = 0) throws(JSONError) {
        skipWhiteSpace()
        // Most values are neither arrays nor objects.
        if isContainer(at: position) {
            try skipContainer(depth: depth)
        } else {
            position = try endOfScalar(at: position)
        }
    }

    @inline(__always)
    private func isContainer(at index: Int) -> Bool {
        index < bytes.count && (bytes[index] == UInt8(ascii: "[") || bytes[index] == UInt8(ascii: "{"))
    }

    /// The arrays and objects that are open, at most 64: one bit each, set for an object. The lowest bit is the
    /// innermost one.
    private struct Nesting {
        private(set) var count = 0
        private var bits: UInt64 = 0

        var isObject: Bool { bits & 1 == 1 }
        /// The byte that closes the innermost one.
        var end: UInt8 { isObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }

        mutating func push(isObject: Bool) {
            bits = bits << 1 | (isObject ? 1 : 0)
            count += 1
        }

        mutating func pop() {
            bits >>= 1
            count -= 1
        }
    }

    /// Skips an array or object with everything in it.
    private mutating func skipContainer(depth: Int) throws(JSONError) {
        var open = Nesting()
        // A local variable stays in a register.
        var index = position
        repeat {
            while try !skipStart(&index, &open, depth: depth) {}
        } while try skipEnds(&index, &open)
        position = index
    }

    /// Skips a whole value, or the beginning of an array or object that is not empty.
    /// - Returns: whether a value has ended.
    @inline(__always)
    private mutating func skipStart(_ index: inout Int, _ open: inout Nesting, depth: Int) throws(JSONError) -> Bool {
        if !isContainer(at: index) {
            index = try endOfScalar(at: index)
        } else if depth + open.count >= maximumDepth {
            index = try endOfTooDeep(at: index)
        } else if open.count == 64 {
            index = try endOfContainer(at: index, depth: depth + open.count)
        } else {
            open.push(isObject: bytes[index] == UInt8(ascii: "{"))
            index = endOfWhiteSpace(at: index + 1)
            guard index < bytes.count, bytes[index] == open.end else {
                if open.isObject { index = try endOfName(at: index) }
                return false
            }
            index += 1
            open.pop()
        }
        return true
    }

    /// Skips the ends of the arrays and objects that end after a value.
    /// - Returns: whether another value follows in the array or object that is still open; false if none is open.
    @inline(__always)
    private mutating func skipEnds(_ index: inout Int, _ open: inout Nesting) throws(JSONError) -> Bool {
        while open.count > 0 {
            index = endOfWhiteSpace(at: index)
            let byte = index < bytes.count ? bytes[index] : 0
            if byte == UInt8(ascii: ",") {
                index = open.isObject ? try endOfName(at: index + 1) : endOfWhiteSpace(at: index + 1)
                return true
            }
            guard byte == open.end else {
                position = index
                throw syntax(open.isObject ? "',' or '}' is missing" : "',' or ']' is missing")
            }
            index += 1
            open.pop()
        }
        return false
    }

    /// The end of an array or object nested in 64 others, more than the bits of one word can track.
    private mutating func endOfContainer(at index: Int, depth: Int) throws(JSONError) -> Int {
        position = index
        try skipContainer(depth: depth)
        return position
    }

    private mutating func endOfTooDeep(at index: Int) throws(JSONError) -> Int {
        position = index
        try skipTooDeep()
        return position
    }

    @inline(__always)
    private func endOfWhiteSpace(at index: Int) -> Int {
        // Mostly there is no white space.
        guard index < bytes.count, bytes[index] <= 0x20 else { return index }
        return endOfSomeWhiteSpace(at: index)
    }

    private func endOfSomeWhiteSpace(at index: Int) -> Int {
        var index = index
        while index < bytes.count, isWhiteSpace(bytes[index]) { index += 1 }
        return index
    }

    /// Skips a member's name, the colon, and the white space around them.
    @inline(__always)
    private mutating func endOfName(at index: Int) throws(JSONError) -> Int {
        let start = endOfWhiteSpace(at: index)
        guard start < bytes.count, bytes[start] == UInt8(ascii: "\"") else {
            position = start
            throw syntax("a member name is missing")
        }
        let colon = endOfWhiteSpace(at: try endOfString(at: start))
        guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":") else {
            position = colon
            throw syntax("':' is missing")
        }
        return endOfWhiteSpace(at: colon + 1)
    }

    /// Skips a value that is neither an array nor an object.
    @inline(__always)
    private mutating func endOfScalar(at index: Int) throws(JSONError) -> Int {
        if index < bytes.count {
            if bytes[index] == UInt8(ascii: "\"") { return try endOfString(at: index) }
            // Most numbers are integers without a sign, so only their digits need a look.
            let end = endOfDigits(from: index)
            if end - index == 1 || end > index && end - index < 300 && bytes[index] != UInt8(ascii: "0"),
                !isPartOfNumber(at: end)
            {
                return end
            }
        }
        position = index
        try otherScalar()
        return position
    }

    private mutating func otherScalar() throws(JSONError) {
        guard let first = next else { throw syntax("a value is missing") }
        switch first {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        default: throw syntax("unexpected character")
        }
    }

    /// Consumes a member's name and the colon after it.
    /// - Returns: the range of the text between the quotes.
    public mutating func name() throws(JSONError) -> Range<Int> {
        skipWhiteSpace()
        guard next == UInt8(ascii: "\"") else { throw syntax("a member name is missing") }
        let range = try string()
        skipWhiteSpace()
        guard skip(UInt8(ascii: ":")) else { throw syntax("':' is missing") }
        return range
    }

    /// Skips an array and calls `take` with the range of each item.
    /// - Parameter depth: how many arrays and objects it is nested in.
    public mutating func skipArray(depth: Int, _ take: (Range<Int>) -> Void) throws(JSONError) {
        try forEachItem(depth: depth, take)
    }

    /// Skips an array and stores the range of each item.
    /// - Parameter offset: what to add to the ranges.
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

    /// Skips an object. `take` gets the range of each member's name and reads the member's value.
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

    /// Skips an array or object that is nested too deep, without checking its grammar.
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
}
