internal import JSON
internal import NIOCore
internal import NIOHTTP1
internal import QuickConnect
internal import QuickConnectClient

/// Calls of programs, without a WebSocket.
extension WebSite {
    func call(_ request: WebRequest, _ calls: DaemonCalls) -> EventLoopFuture<Response> {
        guard case .program = request.sender else { return now(Self.callWithoutToken) }
        return answers(request, calls).assumeIsolated().map { response in
            self.isStillIn(request.sender) ? response : Self.unauthorized
        }.nonisolated()
    }

    private func answers(_ request: WebRequest, _ calls: DaemonCalls) -> EventLoopFuture<Response> {
        if request.query.isEmpty { return many(request, calls) }
        guard request.body.readableBytesView.allSatisfy({ $0 == 0x0A || $0 == 0x0D }) else {
            return now(.error(.badRequest, "badRequest", "put the call into the address or into the body, not both"))
        }
        return one(CallLines(query: request.query), request, calls)
    }

    private func one(_ lines: CallLines, _ request: WebRequest, _ calls: DaemonCalls) -> EventLoopFuture<Response> {
        switch lines.lines.first {
        case .call(let command, let line)?:
            return calls.make([line], for: request.sender).map { replies in Response(replies.first, to: command) }
                .flatMapErrorThrowing { try Response.refusal($0) }
        case .unreadable(let problem)?:
            return now(.json(problem.error.payload(command: problem.command), CallLines.status(problem.code.rawValue)))
        case nil: return now(.error(.badRequest, "badRequest", "there is no call"))
        }
    }

    /// One line of the answer for each line of the body, in order.
    private func many(_ request: WebRequest, _ calls: DaemonCalls) -> EventLoopFuture<Response> {
        calls.read(request.body).assumeIsolated().flatMap { lines in
            guard !lines.lines.isEmpty else {
                let message = "put the call into the address, /call?cmd=…&msg=…, or into lines of the body"
                return self.now(.error(.badRequest, "badRequest", message))
            }
            let good = lines.lines.compactMap { if case .call(_, let line) = $0 { line } else { nil } }
            return calls.make(good, for: request.sender).assumeIsolated().flatMap { replies in
                guard replies.reduce(0, { $0 + $1.count }) > CallLines.smallBody else {
                    return self.now(Self.answer(replies, lines))
                }
                return calls.beside { Self.answer(replies, lines) }
            }.nonisolated()
        }.flatMapErrorThrowing { error in
            guard error is CallLines.TooMany else { return try Response.refusal(error) }
            let message = "a body has up to \(CallLines.max) calls, and this one has more; none was made"
            return .error(.payloadTooLarge, "tooLarge", message)
        }.nonisolated()
    }

    private static func answer(_ replies: [CallReply], _ lines: CallLines) -> Response {
        var replies = replies[...]
        var text: [UInt8] = []
        for line in lines.lines {
            switch line {
            case .unreadable(let problem):
                text += Array(#"{"error":\#(problem.error.payload(command: problem.command).text)}"#.utf8)
            case .call(let command, _): append(replies.popFirst(), command, to: &text)
            }
            text.append(UInt8(ascii: "\n"))
        }
        return .text(text, type: "application/x-ndjson", end: "")
    }

    private static func append(_ reply: CallReply?, _ command: String, to text: inout [UInt8]) {
        switch reply {
        case .value(let value)?: text += Array(#"{"responseData":"#.utf8) + value + [UInt8(ascii: "}")]
        case .error(let error)?: text += Array(#"{"error":"#.utf8) + error + [UInt8(ascii: "}")]
        case .failed(let failure)?:
            text += Array(JSONValue.object(["error": .object(failure.payload(command: command))]).text.utf8)
        case nil: text += Array(#"{"error":{"code":"internal","message":"no reply"}}"#.utf8)
        }
    }
}
