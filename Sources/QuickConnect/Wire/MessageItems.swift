import JSON

/// A checked message, and where its items are: the parameters that it stands for.
struct MessageItems {
    /// Where the message is; empty where there is none.
    private(set) var range = 0..<0
    private(set) var items = Slices()

    /// Nothing.
    init() {}

    /// One item.
    init(one range: Range<Int>) {
        self.range = range
        items.append(range)
    }

    /// Passes over one value that begins at the next byte.
    /// - Parameters:
    ///   - depth: how many arrays and objects it stands in.
    ///   - offset: where the scanner's bytes begin in those that are kept.
    init(_ scanner: inout JSONScanner, depth: Int, offset: Int = 0) throws(JSONError) {
        let start = scanner.position
        switch JSONKind(firstByte: scanner.next) {
        case .array:
            var found = Slices()
            try scanner.skipArray(depth: depth) {
                found.append(($0.lowerBound + offset)..<($0.upperBound + offset))
            }
            items = found
        case .null: try scanner.skipValue(depth: depth)
        default:
            try scanner.skipValue(depth: depth)
            items.append((start + offset)..<(scanner.position + offset))
        }
        range = (start + offset)..<(scanner.position + offset)
    }
}
