/// The part of a file that a request asks for (RFC 9110, section 14).
package enum ByteRange: Equatable {
    case whole
    case part(Range<Int>)
    /// It begins behind the end.
    case unsatisfiable

    /// One range of bytes; what is anything else, or several ranges, is answered with the whole file, as the RFC allows.
    /// - Parameter header: the value of `Range`; nil if there is none.
    package init(_ header: String?, size: Int) {
        self = .whole
        guard let header, header.lowercased().hasPrefix("bytes=") else { return }
        let parts = header.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let (first, last) = Self.numbers(parts[0], parts[1]) else { return }
        switch (first, last) {
        case (let first?, let last?):
            guard first <= last else { return }
            self = first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
        case (let first?, nil): self = first < size ? .part(first..<size) : .unsatisfiable
        case (nil, let count?): self = count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .unsatisfiable
        case (nil, nil): return
        }
    }

    /// Nil if one is no number. Numbers that are too large are the largest.
    private static func numbers(_ first: Substring, _ last: Substring) -> (Int?, Int?)? {
        guard isNumber(first), isNumber(last) else { return nil }
        return (number(first), number(last))
    }

    private static func isNumber(_ text: Substring) -> Bool { text.utf8.allSatisfy { (0x30...0x39).contains($0) } }

    private static func number(_ text: Substring) -> Int? { text.isEmpty ? nil : Int(text) ?? Int.max - 1 }
}
