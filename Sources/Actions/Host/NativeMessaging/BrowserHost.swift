internal import Glibc
internal import JSON
package import Linux
internal import QuickConnect
package import QuickConnectClient

/// Talks to a browser over standard input and output, and to the daemon over its socket, in one thread that polls both.
/// It ends when the browser closes its end.
package final class BrowserHost {
    private let desk: LocalRequests
    private let link: DaemonLink
    private let log: ServiceLog
    private var frames = MessageFrames()
    /// The extension's ids of the running calls.
    private var calls: [CallID: Int64] = [:]
    private var isOpen = true
    private var status: Int32 = 0

    package init(_ desk: LocalRequests, _ link: DaemonLink, _ log: ServiceLog) {
        self.desk = desk
        self.link = link
        self.log = log
    }

    /// - Returns: the exit status: 0 if the browser has ended the conversation, 1 if its input was not valid.
    package func run() -> Int32 {
        while isOpen {
            // It is set up to keep trying, so it throws nothing.
            try? link.advance()
            failWithoutDaemon()
            takeEvents()
            wait()
        }
        link.close()
        return status
    }

    private func wait() {
        var polled = [pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0), link.events]
        let count = poll(&polled, 2, DaemonConnection.milliseconds(until: link.nextMoment))
        guard count > 0 else { return }
        if polled[1].revents != 0 { link.receive() }
        if polled[0].revents != 0 { readInput() }
    }

    private func readInput() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        if count < 0, errno == EINTR || errno == EAGAIN { return }
        guard count > 0 else {
            if !frames.isAtBoundary { fail("the browser has ended in the middle of a message") }
            isOpen = false
            return
        }
        let new = buffer.withUnsafeBytes { frames.read(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        for frame in new { take(frame) }
        guard frames.isBroken else { return }
        answer(nil, .failure(CommandError(.badRequest, "this input is not a browser's native messaging")))
        fail("the input is not a browser's native messaging")
        isOpen = false
    }

    private func fail(_ message: String) {
        log.write(message, .error)
        status = 1
    }

    // MARK: Requests

    private func take(_ frame: MessageFrames.Frame) {
        switch frame {
        case .tooLarge(let bytes):
            let limit = "more than \(MessageFrames.maximumBytes)"
            answer(nil, .failure(CommandError(.tooLarge, "the message has \(bytes) bytes, \(limit)")))
        case .message(let bytes):
            do throws(BrowserRequest.Refusal) {
                try take(BrowserRequest(bytes))
            } catch {
                answer(error.id, .failure(error.error))
            }
        }
    }

    private func take(_ request: BrowserRequest) {
        do throws(CommandError) {
            switch try desk.step(request) {
            case .answer(let value): answer(request.id, .success(value))
            case .call(let command, let message): calls[link.conversation.call(command, .value(message))] = request.id
            case .post(let event, let data):
                link.conversation.call("post", .value([.string(event), .object(data)]), before: .now + Self.timeout)
                answer(request.id, .success(.null))
            }
        } catch {
            log.write("refused: \(error.message)", .info)
            answer(request.id, .failure(error))
        }
    }

    /// How long an event waits for a daemon.
    private static let timeout = Duration.seconds(5)

    // MARK: The daemon's answers

    /// Without a daemon, calls fail at once.
    private func failWithoutDaemon() {
        guard link.connection == nil, let problem = link.problem else { return }
        for (call, id) in calls {
            calls[call] = nil
            link.conversation.cancel(call)
            answer(id, .failure(CommandError(.unavailable, problem)))
        }
    }

    private func takeEvents() {
        for event in link.conversation.takeEvents() {
            switch event {
            case .replied(let call, _, let value):
                if let id = calls.removeValue(forKey: call) { answer(id, .success(value)) }
            case .failed(let call, let failure):
                guard let id = calls.removeValue(forKey: call) else { continue }
                let code = CommandError.Code(rawValue: failure.code) ?? .internal
                answer(id, .failure(CommandError(code, failure.message)))
            case .fault(.told(let error)): log.write("\(error.code): \(error.message)", .warning)
            case .happened, .called, .cancelled, .stands, .refused, .fault: break
            }
        }
    }

    private func answer(_ id: Int64?, _ result: Result<JSONValue, CommandError>) {
        var members: JSONObject = ["id": id.map(JSONValue.integer) ?? .null]
        switch result {
        case .success(let value): members["value"] = value
        case .failure(let error): members["error"] = error.payload(command: nil)
        }
        guard let frame = MessageFrames.frame(JSONValue.object(members).text) else {
            return answer(id, .failure(CommandError(.tooLarge, "the answer is longer than a browser takes")))
        }
        if Descriptor.write(frame, to: STDOUT_FILENO) != 0 { isOpen = false }
    }
}
