import JSON

extension Request {
    /// Skips the message, which begins at the next byte, and stores the ranges of its items, which are the parameters.
    /// - Parameters:
    ///   - depth: how many arrays and objects it is nested in.
    ///   - offset: the position of the scanner's first byte in the request.
    /// - Returns: the range of the message.
    func takeMessage(_ scanner: inout JSONScanner, depth: Int, offset: Int = 0) throws(JSONError) -> Range<Int> {
        let start = scanner.position
        var items = JSONItems()
        switch JSONKind(firstByte: scanner.next) {
        case .array: try scanner.skipItems(depth: depth, offset: offset, into: &items)
        case .null: try scanner.skipValue(depth: depth)
        default:
            try scanner.skipValue(depth: depth)
            items.append((start + offset)..<(scanner.position + offset))
        }
        take(items)
        return (start + offset)..<(scanner.position + offset)
    }

    /// Stores one value as the message.
    func takeMessage(_ value: Range<Int>) -> Range<Int> {
        var items = JSONItems()
        items.append(value)
        take(items)
        return value
    }
}
