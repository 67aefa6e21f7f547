import Fuzzer
import JSON
import QuickConnectClient

@main enum FuzzConversation {
    static func main() { fuzz(converse) }
}

/// What libFuzzer calls with each input: what a daemon says to a client that has made calls, registered a handler and
/// subscribed. The first byte says in which pieces it comes; they must make no difference.
private func converse(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes, count > 1 else { return 0 }
    let said = UnsafeBufferPointer(start: bytes + 1, count: count - 1)
    let whole = hear(said, inPiecesOf: said.count)
    let pieces = hear(said, inPiecesOf: 1 + Int(bytes[0] & 31))
    check(whole.events == pieces.events, "the pieces make no difference")
    check(whole.output == pieces.output, "the pieces make no difference to what is answered")
    pass(said, inPiecesOf: 1 + Int(bytes[0] & 31))
    return 0
}

private func hear(
    _ said: UnsafeBufferPointer<UInt8>,
    inPiecesOf size: Int
) -> (events: [ClientConversation.Event], output: [UInt8]) {
    var (conversation, calls) = begun()
    var events: [ClientConversation.Event] = []
    forEachPiece(of: said, size) { conversation.receive($0) }
    for event in conversation.takeEvents() {
        events.append(event)
        switch event {
        case .replied(let id, _, _), .failed(let id, _):
            check(calls.remove(id) != nil, "a call is told once, and no other is")
        case .called(let call):
            let isFirst = conversation.answer(call, with: .success(HandlerCall.Answer(call.data)))
            check(isFirst, "a handler's call is there to be answered")
            check(!conversation.answer(call, with: .success(HandlerCall.Answer(1))), "it is answered once")
        case .happened, .cancelled, .stands, .refused, .fault: break
        }
    }
    check(conversation.callCount >= calls.count, "what has not been told is not forgotten")
    let output = conversation.takeOutput()
    check(output.isEmpty || output.last == UInt8(ascii: "\n"), "whole lines go out")
    for line in output.split(separator: UInt8(ascii: "\n")) {
        check((try? JSONParser.parse(Array(line).span)) != nil, "a line is JSON")
    }
    conversation.close("the end")
    for event in conversation.takeEvents() {
        if case .failed(let id, _) = event { check(calls.remove(id) != nil, "a call is told once") }
    }
    check(calls.isEmpty, "each call is told, at the latest at the end")
    return (events, output)
}

/// A conversation with four calls under way, and a fifth that waits.
private func begun() -> (ClientConversation, Set<CallID>) {
    var bounds = ClientConversation.Bounds()
    bounds.callsUnderWay = 4
    bounds.receivedLineBytes = 300
    var conversation = ClientConversation(bounds: bounds)
    conversation.connected()
    let calls = (0..<5).map { conversation.call("n\($0)") }
    conversation.register(handler: "lamp")
    conversation.subscribe(to: "news")
    _ = conversation.takeOutput()
    return (conversation, Set(calls))
}

/// Lines that are handed on are those that were said.
private func pass(_ said: UnsafeBufferPointer<UInt8>, inPiecesOf size: Int) {
    var (conversation, _) = begun()
    var rest = said.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
        Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
    }[...]
    forEachPiece(of: said, size) { piece in
        conversation.receive(piece) { line in
            let line = Array(line)
            while let next = rest.popFirst(), next != line {}
            check(line.first == UInt8(ascii: "{"), "only messages are handed on")
        }
    }
    check(!rest.isEmpty, "what is handed on was said, in that order")
}

private func forEachPiece(
    of bytes: UnsafeBufferPointer<UInt8>,
    _ size: Int,
    _ body: (UnsafeBufferPointer<UInt8>) -> Void
) {
    var start = 0
    while start < bytes.count {
        let end = min(start + size, bytes.count)
        body(UnsafeBufferPointer(rebasing: bytes[start..<end]))
        start = end
    }
}
