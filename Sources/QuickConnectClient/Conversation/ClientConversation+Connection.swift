internal import JSON
internal import QuickConnect

/// Connections that come and go, and what comes over them.
extension ClientConversation {
    /// There is a connection. What stands is said first, then what has waited goes out.
    /// - Parameter lines: what a program that writes its own messages says first, as for ``send(lines:)``.
    public mutating func connected(saying lines: [UInt8] = []) {
        if isConnected { lost("another connection was made") }
        connectionCount += 1
        isConnected = true
        for call in standing.calls { say(call) }
        lines.withUnsafeBufferPointer { send(lines: $0) }
        pending.sendAll { output += $0 }
    }

    /// The connection is gone. Calls that were under way fail; what has not been sent of it is forgotten.
    public mutating func lost(_ reason: String) {
        isConnected = false
        output = []
        splitter.clear()
        for (id, hearsCancel) in handlerCalls where hearsCancel { cancelled(id) }
        handlerCalls = [:]
        for (number, call) in pending.takeSent() where !call.isGivenUp {
            tell(CallID(call.precedence, number), call, .failure(.connectionLost(reason)))
        }
    }

    /// Nobody wants anything any more: all calls fail, sent or not, and nothing stands.
    public mutating func close(_ reason: String) {
        lost(reason)
        standing = StandingOrders()
        for (number, call) in pending.takeAll() where !call.isGivenUp {
            tell(CallID(call.precedence, number), call, .failure(.connectionLost(reason)))
        }
    }

    /// Takes in what has come over the connection.
    public mutating func receive(_ bytes: UnsafeBufferPointer<UInt8>) {
        split(bytes) { conversation, line in conversation.take(line) }
    }

    /// Gives the lines that are whole now, but for empty and overlong ones.
    mutating func split(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ take: (inout ClientConversation, UnsafeBufferPointer<UInt8>) -> Void
    ) {
        // Out of here meanwhile, so that each line may change the rest.
        var splitter = LineSplitter(limit: bounds.receivedLineBytes)
        swap(&splitter, &self.splitter)
        splitter.split(bytes) { line in
            switch line {
            case .line(let line): if !line.isEmpty { take(&self, line) }
            case .overlong(let start): takeOverlong(start)
            }
        }
        swap(&splitter, &self.splitter)
    }

    private mutating func take(_ line: UnsafeBufferPointer<UInt8>) {
        switch DaemonMessage(line) {
        case .reply(let id, let result): settle(CallID(id.utf8), result)
        case .event("cancel", let value): takeCancel(value)
        case .event(let name, let value): events.append(.happened(name: name, value))
        case .call(let call): take(call)
        case .error(let error): events.append(.fault(.told(error)))
        case .unreadable(let problem): events.append(.fault(.unreadable(problem)))
        }
    }

    private mutating func takeOverlong(_ start: UnsafeBufferPointer<UInt8>) {
        let problem = "a line of the daemon is longer than \(bounds.receivedLineBytes) bytes"
        if let id = CallID(atStartOf: start) { return settle(id, .failure(.unreadable(problem))) }
        events.append(.fault(.unreadable(problem)))
    }

    /// A call is over. A reply to none, or a second one, is dropped and counted.
    private mutating func settle(_ id: CallID?, _ result: Result<(command: String?, value: JSONValue), CallFailure>) {
        guard let (id, call) = over(id), !call.isGivenUp else { return }
        tell(id, call, result)
    }

    /// Takes a call that is answered, and sends what has waited for its place.
    mutating func over(_ id: CallID?) -> (id: CallID, call: PendingCalls.Call)? {
        guard let id, let known = pending[id.number], known.isSent, known.precedence == id.precedence,
            let call = pending.take(id.number)
        else {
            droppedReplyCount += 1
            return nil
        }
        if pending.waitingCount > 0 { pending.send { output += $0 } }
        return (id, call)
    }

    private mutating func take(_ call: HandlerCall) {
        var call = call
        call.connection = connectionCount
        guard handlerCalls[call.id] == nil else { return }
        handlerCalls[call.id] = standing.hearsCancel(handler: call.handler)
        guard standing.has(handler: call.handler) else {
            let sentence = "the client has taken back its handler \(call.handler)"
            answer(call, with: .failure(HandlerCall.Failure(.unavailable, sentence)))
            return
        }
        events.append(.called(call))
    }

    /// `["q7"]`: nobody waits any more for the answer to that call.
    private mutating func takeCancel(_ value: JSONValue) {
        guard let id = value.arrayValue?.first?.stringValue, handlerCalls.removeValue(forKey: id) == true else {
            return
        }
        cancelled(id)
    }

    private mutating func cancelled(_ id: String) {
        events.append(.cancelled(HandlerCall.Number(id: id, connection: connectionCount)))
    }
}
