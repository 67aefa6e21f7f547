internal import Glibc

/// For a program that writes and reads the messages itself, such as the JavaScript of a script: lines of the bridge
/// form pass through unchanged. The conversation still tracks which calls are running or waiting, in which order, and
/// how they end. Such a program manages its own handlers and subscriptions, and renews them itself.
extension ClientConversation {
    /// Sends lines, each with its line break: answers, and calls whose last member is their id (see ``CallID``), with a
    /// number that the program counts up.
    ///
    /// The failure of a call is an event. An answer that is too large becomes an error. Without a connection an answer
    /// is dropped, because nobody waits for it.
    public mutating func send(lines: UnsafeBufferPointer<UInt8>) {
        var rest = lines
        while let base = rest.baseAddress, let found = memchr(base, CInt(UInt8(ascii: "\n")), rest.count) {
            let end = UnsafeRawPointer(found) - UnsafeRawPointer(base)
            send(line: UnsafeBufferPointer(rebasing: rest[...end]))
            rest = UnsafeBufferPointer(rebasing: rest[(end + 1)...])
        }
    }

    /// - Parameter line: including its line break.
    private mutating func send(line: UnsafeBufferPointer<UInt8>) {
        let message = UnsafeBufferPointer(rebasing: line.dropLast())
        let problem = message.count > bounds.depth ? LineCheck.problem(message, bounds) : nil
        if let id = CallID(atEndOf: message), !message.has(Self.replyStart, at: 0) {
            send(call: line, id, problem)
        } else if isConnected {
            if let problem { return refuse(answer: message, problem) }
            output.append(contentsOf: line)
        }
    }

    private mutating func send(call line: UnsafeBufferPointer<UInt8>, _ id: CallID, _ problem: String?) {
        lastNumber = max(lastNumber, id.number)
        if let problem { return events.append(.failed(id, .tooLarge(problem))) }
        if id.precedence == .inOrder, !pending.hasRoom(for: line.count) {
            return events.append(.failed(id, .overloaded(Self.overload(bounds))))
        }
        let isSent = isConnected && pending.mayGo(id.precedence)
        let call = PendingCalls.Call(id.precedence, lineBytes: line.count, isSent: isSent)
        guard pending.add(call, id.number, line) else {
            return events.append(.fault(.unreadable("the id \(id.text) is in use")))
        }
        if isSent { output.append(contentsOf: line) }
    }

    private mutating func refuse(answer: UnsafeBufferPointer<UInt8>, _ problem: String) {
        let start = Self.replyStart.utf8CodeUnitCount
        guard let end = answer.dropFirst(start).prefix(256).firstIndex(of: UInt8(ascii: "\"")) else { return }
        output.append(contentsOf: answer[...end])
        output += Array(",\"error\":{\"code\":\"tooLarge\",\"message\":\"the handler's answer: \(problem)\"}}\n".utf8)
    }

    /// Why the daemon would reject a line, such as an answer; nil if it would not.
    public func problem(ofLine line: [UInt8]) -> String? {
        line.withUnsafeBufferPointer { LineCheck.problem($0, bounds) }
    }

    /// Removes and returns the failure of a call, which is then no longer an event.
    public mutating func takeFailure(of id: String) -> CallFailure? {
        for (index, event) in events.enumerated() {
            guard case .failed(let failed, let failure) = event, failed.text == id else { continue }
            events.remove(at: index)
            return failure
        }
        return nil
    }

    /// Withdraws a call that has not been sent. A call that has been sent continues.
    public mutating func withdraw(_ id: String) {
        guard let id = CallID(id), let call = pending[id.number], !call.isSent else { return }
        _ = pending.take(id.number)
        _ = pending.takeNote(of: id.number)
    }

    /// Processes bytes received on the connection, and passes on the messages unparsed, without line breaks: calls to
    /// handlers, events, and each reply to a call once.
    public mutating func receive(
        _ bytes: UnsafeBufferPointer<UInt8>,
        passing take: (UnsafeBufferPointer<UInt8>) -> Void
    ) {
        split(bytes) { conversation, line in
            if conversation.passes(line) { take(line) }
        }
    }

    /// Whether to pass a line to the program.
    private mutating func passes(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        if line.has("{\"handlerName\":", at: 0) { return true }
        if line.has(Self.replyStart, at: 0) { return passes(replyTo: CallID(atStartOf: line)) }
        switch DaemonMessage(line) {
        case .reply(let id, _): return passes(replyTo: CallID(id))
        case .event, .call: return line.first == UInt8(ascii: "{")
        case .error(let error): events.append(.fault(.told(error)))
        case .unreadable(let problem): events.append(.fault(.unreadable(problem)))
        }
        return false
    }

    private mutating func passes(replyTo id: CallID?) -> Bool {
        guard let id else {
            droppedReplyCount += 1
            return false
        }
        guard let call = over(id) else { return false }
        // A call with a note is the conversation's own.
        return pending.takeNote(of: id.number) == nil && !call.isGivenUp
    }

    private static var replyStart: StaticString { "{\"responseId\":\"" }
}
