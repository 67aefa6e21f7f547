internal import Glibc

/// A connection to a broker for a program that does one thing at a time. It does not reconnect.
package final class BrokerConnection {
    package typealias Instant = ContinuousClock.Instant

    private let client: MQTTClient
    private let place: String
    private var messages: [MQTTMessage] = []
    private var isUp = false
    private var lost: MQTTReason?
    private var refused: MQTTReason?
    private var published: [Int32: MQTTReason] = [:]
    private var granted: [Int32: [Int32]] = [:]
    private var keepsAliveAt: Instant
    private let keepAlivePause: Duration

    private static let keepAlive: Int32 = 30
    /// The largest accepted packet: larger than any reply.
    private static let packetBytes: UInt32 = 64 << 20

    /// - Parameter name: of the client at the broker.
    package init(_ broker: MQTTBroker, name: String) throws(FleetFailure) {
        place = "\(broker.host):\(broker.port)"
        let session = MQTTSession(
            client: name,
            packetBytes: Self.packetBytes,
            keepAliveSeconds: Self.keepAlive
        )
        keepsAliveAt = .now + session.keepAlivePause
        keepAlivePause = session.keepAlivePause
        do throws(MQTTError) { client = try MQTTClient(broker, session) } catch { throw FleetFailure(error) }
    }

    deinit { client.disconnect() }

    /// Connects.
    package func connect(before deadline: Instant) throws(FleetFailure) {
        do throws(MQTTError) { try client.connect() } catch { throw .noBroker("\(place): \(error.text)") }
        while !isUp {
            if let refused { throw .noBroker("\(place) does not let this client in: \(refused)") }
            if let lost { throw .noBroker("\(place): \(lost)") }
            guard step(before: deadline) else { throw .noBroker("\(place) does not answer") }
        }
    }

    /// Subscribes, and waits until the broker has said yes.
    package func subscribe(
        to topics: [String],
        bringingRetained bringsRetained: Bool = false,
        before deadline: Instant
    ) throws(FleetFailure) {
        for topic in topics {
            let number: Int32
            do throws(MQTTError) {
                number = try client.subscribe(to: .init(topic, bringsRetained: bringsRetained))
            } catch {
                throw .unusable("\(topic): \(error.text)")
            }
            while granted[number] == nil { try wait(before: deadline) }
            if granted.removeValue(forKey: number)?.contains(where: { $0 >= 128 }) ?? false {
                throw .denied("the broker grants no subscription to \(topic)")
            }
        }
    }

    /// Publishes with QoS 1, and waits for the broker's result.
    package func publish(_ message: MQTTMessage, before deadline: Instant) throws(FleetFailure) -> MQTTReason {
        let number: Int32
        do throws(MQTTError) { number = try client.publish(message) } catch {
            throw .unusable("\(message.topic): \(error.text)")
        }
        while true {
            if let reason = published.removeValue(forKey: number) { return reason }
            try wait(before: deadline)
        }
    }

    /// The next message; nil if none comes in time.
    package func next(before deadline: Instant?) throws(FleetFailure) -> MQTTMessage? {
        while messages.isEmpty {
            if let lost { throw .connectionLost("the connection to \(place) is lost: \(lost)") }
            guard step(before: deadline) else { return nil }
        }
        return messages.removeFirst()
    }

    private func wait(before deadline: Instant) throws(FleetFailure) {
        if let lost { throw .connectionLost("the connection to \(place) is lost: \(lost)") }
        guard step(before: deadline) else { throw .timedOut("\(place) does not answer") }
    }

    /// Waits for whatever comes next; false if the time is over.
    private func step(before deadline: Instant?) -> Bool {
        if let deadline, deadline <= .now { return false }
        let until = min(deadline ?? keepsAliveAt, keepsAliveAt)
        var entry = client.events
        let left = max(0, ((until - .now) / .milliseconds(1)).rounded(.up))
        poll(&entry, 1, Int32(min(left, 1e9)))
        client.advance(entry.revents)
        if keepsAliveAt <= .now {
            client.keepAlive()
            keepsAliveAt = .now + keepAlivePause
        }
        for event in client.takeEvents() { handle(event) }
        return true
    }

    private func handle(_ event: MQTTClient.Event) {
        switch event {
        case .connected: isUp = true
        case .refused(let reason): refused = reason
        case .disconnected(let reason): lost = reason
        case .message(let message): messages.append(message)
        case .published(let number, let reason): published[number] = reason
        case .subscribed(let number, let reasons): granted[number] = reasons
        }
    }
}
