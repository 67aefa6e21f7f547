package import Concurrency
package import Glibc
internal import Synchronization

/// Successive connections to a broker, for a loop that polls. A thread of its own looks up the broker's name, because
/// that blocks; the loop's thread does everything else.
package final class MQTTLink {
    /// The client of the present or last connection.
    package private(set) var client: MQTTClient
    private let broker: MQTTBroker
    private let session: MQTTSession
    private let waker: Waker
    private var state = State.waiting(until: .now)
    private var pause: ReconnectPause
    private var generator = SystemRandomNumberGenerator()
    private var keepAliveAt: ContinuousClock.Instant
    private let keepAlivePause: Duration
    /// Why there is no connection; nil if there is one.
    package private(set) var problem: String? = notYet
    private var isClosing = false
    /// How many successive connections were accepted by the broker and lost soon.
    package private(set) var shortConnections = 0

    private enum State {
        case waiting(until: ContinuousClock.Instant)
        /// The thread is looking up the name, and uses the client meanwhile.
        case beginning(Attempt)
        /// There is a socket, but the broker has not accepted yet.
        case greeting(since: ContinuousClock.Instant)
        case up(since: ContinuousClock.Instant)
    }

    /// The value of ``problem`` until the first attempt has ended.
    package static let notYet = "not connected yet"
    /// How long to wait for a broker that accepts a connection but sends nothing.
    private static let timeout = Duration.seconds(30)

    /// - Parameters:
    ///   - pause: between attempts.
    ///   - waker: what the loop sleeps by.
    package init(
        _ broker: MQTTBroker,
        _ session: MQTTSession,
        pause: ReconnectPause,
        waker: Waker
    ) throws(MQTTError) {
        (self.broker, self.session, self.pause, self.waker) = (broker, session, pause, waker)
        // Mistakes in files and names are reported at once.
        client = try MQTTClient(broker, session)
        keepAlivePause = session.keepAlivePause
        keepAliveAt = .now + keepAlivePause
    }

    /// Whether the broker has accepted.
    package var isUp: Bool { if case .up = state { true } else { false } }

    /// What to wait for.
    package var events: pollfd {
        switch state {
        case .waiting, .beginning: pollfd(fd: -1, events: 0, revents: 0)
        case .greeting, .up: client.events
        }
    }

    /// When to look again without an event.
    package var nextMoment: ContinuousClock.Instant? {
        switch state {
        case .waiting(let until): isClosing ? nil : until
        case .beginning: nil
        case .greeting(let since): min(since + Self.timeout, keepAliveAt)
        // Messages that needed no acknowledgement have already been reported.
        case .up: client.hasEvents ? .now : keepAliveAt
        }
    }

    /// Connects if it is time to, reads and writes what is possible, and returns what happened.
    /// - Parameter revents: the result of poll(2) for ``events``.
    package func advance(_ revents: Int16) -> [MQTTClient.Event] {
        switch state {
        case .waiting(let until):
            if until <= .now, !isClosing { begin() }
            return []
        case .beginning(let attempt):
            handle(attempt)
            return []
        case .greeting(let since):
            client.advance(revents)
            if since + Self.timeout <= .now { end("the broker does not answer") }
        case .up: client.advance(revents)
        }
        stayAlive()
        var events = client.takeEvents()
        for event in events { handle(event) }
        if !client.isOpen {
            // libmosquitto does not report every end of a connection.
            if isUp { events.append(.disconnected(.connectionLost)) }
            end("the connection was closed")
        }
        return events
    }

    private func begin() {
        do throws(MQTTError) { client = try MQTTClient(broker, session) } catch {
            problem = error.description
            state = .waiting(until: .now + pause.failed(using: &generator))
            return
        }
        let attempt = Attempt(client, waker)
        state = .beginning(attempt)
        // If no thread can be started, the loop itself waits for the name.
        if PThread.start("mqtt-connect", { attempt.run() }) != 0 {
            attempt.run()
            handle(attempt)
        }
    }

    private func handle(_ attempt: Attempt) {
        guard let result = attempt.take() else { return }
        keepAliveAt = .now + keepAlivePause
        if let error = result {
            end(error.text)
        } else {
            state = .greeting(since: .now)
        }
    }

    private func stayAlive() {
        guard keepAliveAt <= .now else { return }
        keepAliveAt = .now + keepAlivePause
        client.keepAlive()
    }

    private func handle(_ event: MQTTClient.Event) {
        switch event {
        case .connected:
            state = .up(since: .now)
            problem = nil
        case .refused(let reason): end("the broker refuses this client: \(reason)")
        case .disconnected(let reason): end("\(reason)")
        case .message, .published, .subscribed: break
        }
    }

    private func end(_ reason: String) {
        switch state {
        case .waiting: return
        case .up(let since):
            problem = "the connection is lost: \(reason)"
            shortConnections = .now - since < ReconnectPause.lasting ? shortConnections + 1 : 0
            state = .waiting(until: .now + pause.lost(after: .now - since, using: &generator))
        case .beginning, .greeting:
            problem = reason
            state = .waiting(until: .now + pause.failed(using: &generator))
        }
    }

    /// Disconnects properly. Messages must have been sent before.
    package func close() {
        isClosing = true
        guard isUp else { return }
        client.disconnect()
        client.advance(0)
    }
}

/// One attempt to connect, on a thread of its own.
private final class Attempt: @unchecked Sendable {
    // Sendable because the link does not use the client until it has taken the result.
    private let client: MQTTClient
    private let waker: Waker
    private let result = Mutex<MQTTError??>(nil)

    init(_ client: MQTTClient, _ waker: Waker) { (self.client, self.waker) = (client, waker) }

    func run() {
        var failure: MQTTError?
        do throws(MQTTError) { try client.connect() } catch { failure = error }
        result.withLock { $0 = .some(failure) }
        waker.wake()
    }

    /// The result, returned once; nil while it is still running.
    func take() -> MQTTError?? {
        result.withLock { result in
            defer { result = nil }
            return result
        }
    }
}
