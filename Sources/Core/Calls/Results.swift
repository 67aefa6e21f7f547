public import JSON

/// The results of the BCOs that have run, in order. A single one needs no array.
public struct Results: Sendable {
    private var first: Message?
    private var others: [Message]?
    /// The command of the last result's reply, if it is not the call's own.
    public private(set) var replyCommand: String?

    /// Whether no command object has had a result.
    public var isEmpty: Bool { first == nil }
    /// How many there are.
    public var count: Int { first == nil ? 0 : 1 + (others?.count ?? 0) }
    /// The newest one.
    public var last: Message? { others?.last ?? first }

    /// One of them, from 0; null beyond the last.
    public subscript(index: Int) -> Message { (index == 0 ? first : others?[index - 1]) ?? .null }

    mutating func append(_ message: consuming Message, under command: consuming String?) {
        if first == nil { first = message } else { appendToOthers(message) }
        replyCommand = command
    }

    private mutating func appendToOthers(_ message: Message) {
        if others == nil { others = [] }
        others?.append(message)
    }

    /// All of them as values.
    public var values: [JSONValue] { (0..<count).map { self[$0].value } }

    /// Appends them as a JSON array.
    func write(to buffer: OutputBuffer) {
        buffer.append(UInt8(ascii: "["))
        for index in 0..<count {
            if index > 0 { buffer.append(UInt8(ascii: ",")) }
            self[index].write(to: buffer)
        }
        buffer.append(UInt8(ascii: "]"))
    }
}
