internal import JSON
internal import Linux
internal import QuickConnect

/// How connections come and go, and what is received on them.
extension ClientConversation {
    /// The connection is open. The opening, handlers and subscriptions are sent first, then the waiting calls.
    /// - Parameter lines: what a program that writes its own messages sends first, in the form of ``send(lines:)``.
    public mutating func connected(saying lines: [UInt8] = []) {
        if isConnected { lost("another connection was made") }
        connectionCount += 1
        isConnected = true
        for call in standing.calls { say(call) }
        lines.withUnsafeBufferPointer { send(lines: $0) }
        pending.sendAll { output += $0 }
    }

    /// The connection is lost. Calls that were sent fail, and unsent bytes of the connection are dropped.
    public mutating func lost(_ reason: String) {
        isConnected = false
        output = []
        renewals.clear()
        splitter.clear()
        aside = LinesAside()
        for (id, hearsCancel) in handlerCalls where hearsCancel { cancelled(id) }
        handlerCalls = [:]
        for (id, call, note) in pending.takeSent() where !call.isGivenUp {
            report(id, note, .failure(.connectionLost(reason)))
        }
    }

    /// Ends the conversation: all calls fail, sent or not, and all handlers and subscriptions are dropped.
    public mutating func close(_ reason: String) {
        lost(reason)
        standing = StandingOrders()
        for (id, call, note) in pending.takeAll() where !call.isGivenUp {
            report(id, note, .failure(.connectionLost(reason)))
        }
    }

    /// Processes bytes received on the connection.
    public mutating func receive(_ bytes: UnsafeBufferPointer<UInt8>) {
        split(bytes) { conversation, line in
            if !conversation.putAside(line) { conversation.take(DaemonMessage(line)) }
        }
    }

    /// Passes on the lines that are complete now, except empty and overlong ones.
    mutating func split(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ take: (inout ClientConversation, UnsafeBufferPointer<UInt8>) -> Void
    ) {
        // Taken out meanwhile, so that handling a line may change the rest.
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

    mutating func take(_ message: DaemonMessage) {
        switch message {
        case .reply(let id, let result): settle(CallID(id), result)
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

    /// Completes a call. A reply to an unknown call, or a second reply, is dropped and counted.
    private mutating func settle(_ id: CallID?, _ result: Result<(command: String?, value: JSONValue), CallFailure>) {
        if id == nil { droppedReplyCount += 1 }
        guard let id, let call = over(id) else { return }
        let note = pending.takeNote(of: id.number)
        if !call.isGivenUp { report(id, note, result) }
    }

    /// Removes an answered call, and sends a waiting call in its place.
    mutating func over(_ id: CallID) -> PendingCalls.Call? {
        guard let over = pending.take(answered: id) else {
            droppedReplyCount += 1
            return nil
        }
        if pending.waitingCount > 0 { pending.send { output += $0 } }
        return over
    }

    private mutating func take(_ call: HandlerCall) {
        var call = call
        call.connection = connectionCount
        guard handlerCalls[call.id] == nil else { return }
        handlerCalls[call.id] = standing.hearsCancel(handler: call.handler)
        guard standing.has(handler: call.handler) else {
            let sentence = "the client has removed its handler \(call.handler)"
            answer(call, with: .failure(HandlerCall.Failure(.unavailable, sentence)))
            return
        }
        events.append(.called(call))
    }

    /// `["q7"]`: nobody waits for the answer to that call any more.
    private mutating func takeCancel(_ value: JSONValue) {
        guard let id = value.arrayValue?.first?.stringValue else { return }
        guard let hears = handlerCalls.removeValue(forKey: id) else {
            if aside.count > 0 { aside.cancelled.insert(id) }
            return
        }
        if hears { cancelled(id) }
    }

    private mutating func cancelled(_ id: String) {
        events.append(.cancelled(HandlerCall.Number(id: id, connection: connectionCount)))
    }
}
