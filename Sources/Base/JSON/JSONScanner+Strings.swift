extension JSONScanner {
    /// Skips the string whose opening quote is at `index`.
    @inline(__always)
    mutating func endOfString(at index: Int) throws(JSONError) -> Int {
        let end = endOfPlainText(from: index + 1)
        if end < bytes.count, bytes[end] == UInt8(ascii: "\"") { return end + 1 }
        position = end
        try restOfString(from: index + 1)
        return position
    }

    /// Skips a string.
    /// - Returns: the range of the text between its quotes.
    @inline(__always)
    public mutating func string() throws(JSONError) -> Range<Int> {
        let start = position + 1
        position = try endOfString(at: position)
        return Range(uncheckedBounds: (start, position - 1))
    }

    /// Skips the rest of a string that begins with plain text.
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

    /// Skips ASCII without quotes, escapes and control characters, eight bytes at a time.
    /// - Returns: the index of the first other byte.
    @inline(__always)
    private func endOfPlainText(from start: Int) -> Int {
        guard let base = bytes.baseAddress else { return start }
        // A local variable stays in a register.
        var position = start
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops: UInt64 = 0x8080_8080_8080_8080
        while position + 8 <= bytes.count {
            let word = UnsafeRawPointer(base + position).loadUnaligned(as: UInt64.self)
            let quote = word ^ (ones &* 0x22)
            let escape = word ^ (ones &* 0x5C)
            // The top bit of a byte is set if it was 0, below 0x20, or above 0x7F. In the bytes above such a byte it
            // may be set wrongly.
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

    /// Skips the digits of `\u`, and the second half of a surrogate pair.
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
        note(.halfPair(offset: start))
    }

    /// Puts U+FFFD in the place of each lone surrogate, as JavaScript's `toWellFormed` does.
    /// - Parameter bytes: one valid JSON text; its length stays.
    public static func replaceHalfPairs(in bytes: UnsafeMutableBufferPointer<UInt8>) {
        func unit(at place: Int) -> UInt16? {
            guard place + 6 <= bytes.count, bytes[place] == UInt8(ascii: "\\"), bytes[place + 1] == UInt8(ascii: "u")
            else {
                return nil
            }
            return bytes[place + 2..<place + 6].reduce(0) { $0 << 4 | UInt16(hexadecimalDigit($1) ?? 0) }
        }
        var place = 0
        while place < bytes.count {
            // In JSON a backslash stands in strings only.
            guard bytes[place] == UInt8(ascii: "\\") else {
                place += 1
                continue
            }
            guard let first = unit(at: place) else {
                place += 2
                continue
            }
            place += 6
            if Unicode.Scalar(first) != nil { continue }
            if UTF16.isLeadSurrogate(first), let second = unit(at: place), UTF16.isTrailSurrogate(second) {
                place += 6
            } else {
                for (index, byte) in "fffd".utf8.enumerated() { bytes[place - 4 + index] = byte }
            }
        }
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

    /// Skips one character of several bytes.
    private mutating func scalar(inStringFrom start: Int) throws(JSONError) {
        let length = UTF8Text.length(at: position, in: bytes)
        guard length > 0 else { throw .syntax("a string is not UTF-8", offset: start) }
        position += length
    }
}
