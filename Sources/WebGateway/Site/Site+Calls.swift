internal import JSON
internal import NIOCore
internal import NIOHTTP1
internal import QuickConnect
internal import QuickConnectClient

/// Calls of programs, without a WebSocket.
extension Site {
    func call(_ request: WebRequest, _ calls: CallConnection) -> EventLoopFuture<Response> {
        guard let token = request.bearerToken else { return now(Self.unauthorized) }
        let identity: Identity
        do throws(Doorkeeper.Refusal) {
            identity = try doorkeeper.identity(token: token, from: request.address)
        } catch {
            return now(refused(error, request))
        }
        let lines = CallLines.lines(request.body)
        if request.query.isEmpty { return many(lines, calls, identity) }
        guard lines.isEmpty else {
            return now(.error(.badRequest, "badRequest", "put the call into the address or into the body, not both"))
        }
        return one(Array("call?\(request.query)".utf8), calls, identity)
    }

    private func one(_ line: [UInt8], _ calls: CallConnection, _ identity: Identity) -> EventLoopFuture<Response> {
        var reader = MessageReader()
        let call: CallLines.Call
        switch CallLines.read(line, with: &reader) {
        case .success(let read): call = read
        case .failure(let problem):
            return now(.json(problem.error.payload(command: problem.command), CallLines.status(problem.code.rawValue)))
        }
        return calls.make([call], for: identity).map { replies in
            switch replies.first {
            case .success(let value)?: .json(value)
            case .failure(let failure)?:
                .json(.object(failure.payload(command: call.command)), CallLines.status(failure.code))
            case nil: .error(.internalServerError, "internal", "no reply")
            }
        }.flatMapErrorThrowing { try Self.refusal($0) }
    }

    /// One line of the answer for each line of the body, in order.
    private func many(_ lines: [[UInt8]], _ calls: CallConnection, _ identity: Identity) -> EventLoopFuture<Response> {
        guard !lines.isEmpty else {
            let message = "put the call into the address, /call?cmd=…&msg=…, or into lines of the body"
            return now(.error(.badRequest, "badRequest", message))
        }
        var reader = MessageReader()
        let read = lines.map { CallLines.read($0, with: &reader) }
        let good = read.compactMap { try? $0.get() }
        return calls.make(good, for: identity).map { replies in
            var replies = replies[...]
            let lines = read.map { line in
                switch line {
                case .failure(let problem): JSONValue.object(["error": problem.error.payload(command: problem.command)])
                case .success(let call): Self.line(replies.popFirst(), call.command)
                }
            }
            return .lines(lines.map(\.text), type: "application/x-ndjson")
        }.flatMapErrorThrowing { try Self.refusal($0) }
    }

    private static func line(_ reply: CallConnection.Reply?, _ command: String) -> JSONValue {
        switch reply {
        case .success(let value)?: ["responseData": value]
        case .failure(let failure)?: ["error": .object(failure.payload(command: command))]
        case nil: ["error": ["code": "internal", "message": "no reply"]]
        }
    }

    static func refusal(_ error: any Error) throws -> Response {
        guard let refusal = error as? DaemonRefusal else { throw error }
        var response = Response.error(CallLines.status(refusal.code), refusal.code, refusal.message)
        if response.status == .serviceUnavailable { response.headers.add(name: "retry-after", value: "1") }
        return response
    }
}
