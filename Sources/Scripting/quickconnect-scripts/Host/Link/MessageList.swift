internal import Concurrency
internal import JSON

/// The daemon's messages that wait for the script, and in which order it gets them: calls by their callers' turns, before them
/// replies and events as they came.
struct MessageList {
    /// A call that does not wait here, because its caller has its share.
    struct Refused {
        var id: String
        /// What waits of the caller.
        var bytes: Int
    }

    /// What waits of all callers.
    private static let maxBytes = 16 << 20
    /// What any caller may have waiting.
    private static let minBytes = 256 << 10
    /// Replies and events are not read any more when so much of them waits.
    private static let maxOtherBytes = 4 << 20
    /// A turn is given so much, or one message, and so many calls: their answers are sent when it is over.
    private static let turnBytes = 64 << 10
    private static let turnCalls = 32

    /// The bytes that name a caller, hashed once for all the look-ups of a call.
    private struct CallerName: Hashable {
        let bytes: [UInt8]
        private let hash: Int

        init(_ bytes: [UInt8]) {
            var hasher = Hasher()
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
            (self.bytes, hash) = (bytes, hasher.finalize())
        }

        func hash(into hasher: inout Hasher) { hasher.combine(hash) }
    }

    private struct WaitingCall {
        let message: [UInt8]
        let caller: CallerName
    }

    /// Replies and events: `[`, and the messages with commas between them.
    private var others: [UInt8] = []
    private var calls = Ring<CallerName, WaitingCall>(newcomersFirst: true)
    private var budget = Budget<CallerName>(limit: Self.maxBytes, minimum: Self.minBytes)

    var isEmpty: Bool { others.isEmpty && calls.isEmpty }

    /// Whether nothing should be read until the script has handled some.
    var isFull: Bool { others.count > Self.maxOtherBytes || budget.used > Self.maxBytes }

    /// Adds a message.
    /// - Returns: the call, if its caller has its share; it is not added.
    mutating func append(_ message: UnsafeBufferPointer<UInt8>) -> Refused? {
        guard let caller = Self.caller(of: message) else {
            put(message)
            return nil
        }
        guard budget.take(message.count, for: caller) else {
            guard let id = Self.id(of: message) else { return nil }
            return Refused(id: id, bytes: budget.used(by: caller))
        }
        calls.append(WaitingCall(message: Array(message), caller: caller), of: caller)
        return nil
    }

    /// Adds a message that comes before all calls.
    mutating func put(_ message: [UInt8]) { message.withUnsafeBufferPointer { put($0) } }

    private mutating func put(_ message: UnsafeBufferPointer<UInt8>) { Self.append(message, to: &others) }

    private static func append(_ message: UnsafeBufferPointer<UInt8>, to list: inout [UInt8]) {
        if list.isEmpty { list.reserveCapacity(max(4096, message.count + 2)) }
        list.append(UInt8(ascii: list.isEmpty ? "[" : ","))
        list.append(contentsOf: message)
    }

    /// Takes what one turn may handle, one JSON array; empty if there is nothing.
    mutating func take() -> [UInt8] {
        guard !isEmpty else { return [] }
        var taken: [UInt8] = []
        swap(&taken, &others)
        for _ in 0..<Self.turnCalls {
            guard taken.count < Self.turnBytes, let call = calls.next() else { break }
            budget.add(-call.message.count, to: call.caller)
            call.message.withUnsafeBufferPointer { Self.append($0, to: &taken) }
        }
        taken.append(UInt8(ascii: "]"))
        return taken
    }

    /// Removes calls to handlers: their callers do not wait on another connection.
    mutating func forgetCalls() {
        calls = Ring(newcomersFirst: true)
        budget = Budget(limit: Self.maxBytes, minimum: Self.minBytes)
        guard !others.isEmpty else { return }
        let list = take()
        let messages = (try? JSONParser.parse(list.span, maximumDepth: 2 * JSONParser.defaultDepth))?.arrayValue ?? []
        for message in messages where message.objectValue?["callbackId"] == nil { put(Array(message.text.utf8)) }
    }

    // MARK: The daemon's lines

    private static let callerName = Array(#","caller":{"#.utf8)
    /// A user's name has at most so many bytes with its escapes, and a gateway's.
    private static let callerBytes = 4096

    /// The caller of a call to a handler, which stands at the end of its line, as bytes; nil for other messages, and for the
    /// rare calls of a stack's error phase.
    private static func caller(of message: UnsafeBufferPointer<UInt8>) -> CallerName? {
        guard message.count > callerName.count + 2, message[message.count - 1] == UInt8(ascii: "}"),
            message[message.count - 2] == UInt8(ascii: "}")
        else { return nil }
        let first = max(0, message.count - callerBytes)
        var index = message.count - callerName.count - 2
        while index >= first {
            // The name of a member: within a text its quotes would be escaped.
            if message[index] == UInt8(ascii: ","), message[index...].starts(with: callerName) { break }
            index -= 1
        }
        guard index >= first else { return nil }
        let caller = message[(index + callerName.count - 1)..<(message.count - 1)]
        return isFlat(caller) ? CallerName(Array(caller)) : nil
    }

    /// Whether it is one object without others in it: in an event's data the caller's object is not the last thing but one.
    private static func isFlat(_ object: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var isText = false
        var isEscaped = false
        for (offset, byte) in object.enumerated() {
            if isEscaped {
                isEscaped = false
            } else if isText {
                isEscaped = byte == UInt8(ascii: "\\")
                isText = byte != UInt8(ascii: "\"")
            } else if byte == UInt8(ascii: "\"") {
                isText = true
            } else if byte == UInt8(ascii: "}") {
                return offset == object.count - 1
            }
        }
        return false
    }

    private static func id(of message: UnsafeBufferPointer<UInt8>) -> String? {
        (try? JSONParser.parse(message.span, maximumDepth: 2 * JSONParser.defaultDepth))?
            .objectValue?["callbackId"]?.stringValue
    }
}
