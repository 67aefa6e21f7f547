import JSON

extension Request {
    /// Passes over the message, which begins at the next byte, and keeps where its items are: the parameters that it stands
    /// for.
    /// - Parameters:
    ///   - depth: how many arrays and objects it stands in.
    ///   - offset: where the scanner's bytes begin in those of the request.
    /// - Returns: where the message is.
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

    /// Keeps one value as the message.
    func takeMessage(_ value: Range<Int>) -> Range<Int> {
        var items = JSONItems()
        items.append(value)
        take(items)
        return value
    }
}
