import JSON

@testable import QuickConnectClient

extension ClientConversation {
    /// Takes in lines, each of which gets its line break.
    mutating func hear(_ lines: String...) {
        Array(lines.map { "\($0)\n" }.joined().utf8).withUnsafeBufferPointer { receive($0) }
    }

    /// The lines that it has to send since the last time.
    mutating func said() -> [String] {
        String(decoding: takeOutput(), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Answers a call.
    mutating func reply(_ id: CallID, _ value: JSONValue = .null) {
        hear(#"{"responseId":"\#(id.text)","responseData":\#(value.text)}"#)
    }

    /// One with a connection, and small bounds.
    static func connected(_ change: (inout Bounds) -> Void = { _ in }) -> ClientConversation {
        var bounds = Bounds()
        change(&bounds)
        var conversation = ClientConversation(bounds: bounds)
        conversation.connected()
        return conversation
    }

    /// Sends lines as a program does that writes its own.
    mutating func send(_ lines: String...) {
        Array(lines.map { "\($0)\n" }.joined().utf8).withUnsafeBufferPointer { send(lines: $0) }
    }

    /// Takes in lines, and gives those that are handed on.
    mutating func pass(_ lines: String...) -> [String] {
        var passed: [String] = []
        Array(lines.map { "\($0)\n" }.joined().utf8).withUnsafeBufferPointer { bytes in
            receive(bytes) { passed.append(String(decoding: $0, as: UTF8.self)) }
        }
        return passed
    }
}

extension ClientConversation.Event {
    /// The call that it is about.
    var id: CallID? {
        switch self {
        case .replied(let id, _, _), .failed(let id, _): id
        default: nil
        }
    }

    var failure: CallFailure? {
        switch self {
        case .failed(_, let failure), .refused(_, let failure): failure
        default: nil
        }
    }

    var handlerCall: HandlerCall? { if case .called(let call) = self { call } else { nil } }
}
