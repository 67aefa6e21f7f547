internal import JSON

/// The daemon's messages in the form for the script: one JSON array.
struct MessageList {
    /// `[`, and the messages with commas between them.
    private var bytes: [UInt8] = []

    var isEmpty: Bool { bytes.isEmpty }

    mutating func append(_ message: UnsafeBufferPointer<UInt8>) {
        if bytes.isEmpty { bytes.reserveCapacity(max(4096, message.count + 2)) }
        bytes.append(UInt8(ascii: bytes.isEmpty ? "[" : ","))
        bytes.append(contentsOf: message)
    }

    mutating func append(_ message: [UInt8]) { message.withUnsafeBufferPointer { append($0) } }

    /// Takes all of them; empty if there are none.
    mutating func take() -> [UInt8] {
        guard !isEmpty else { return [] }
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        taken.append(UInt8(ascii: "]"))
        return taken
    }

    /// Removes calls to handlers: their callers do not wait on another connection.
    mutating func forgetCalls() {
        let messages = (try? JSONParser.parse(take().span, maximumDepth: 2 * JSONParser.defaultDepth))?.arrayValue ?? []
        for message in messages where message.objectValue?["callbackId"] == nil { append(Array(message.text.utf8)) }
    }
}
