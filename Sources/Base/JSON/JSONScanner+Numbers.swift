extension JSONScanner {
    func isPartOfNumber(at index: Int) -> Bool {
        guard index < bytes.count else { return false }
        return bytes[index] == UInt8(ascii: ".") || bytes[index] | 0x20 == UInt8(ascii: "e")
    }

    mutating func number() throws(JSONError) {
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
        // Numbers that are certainly below 1e300 need no exact check.
        guard magnitude > 300 else { return }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard let number = Double(text), number.isFinite else {
            return note(.number(offset: start))
        }
    }

    /// The value of some digits, inexact if it is very large.
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
    func endOfDigits(from start: Int) -> Int {
        var position = start
        while position < bytes.count, bytes[position] &- UInt8(ascii: "0") <= 9 { position += 1 }
        return position
    }
}
