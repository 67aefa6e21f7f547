internal import CLinux
internal import Concurrency
internal import Configuration
internal import Fleet
internal import Glibc
internal import JSON
package import Linux
internal import QuickConnectClient

/// The gateway of a fleet: it passes calls from the broker to the daemon, and publishes the states and events listed in
/// the settings.
///
/// One thread polls the broker, the daemon and signals. Permissions are decided elsewhere: the broker's access rules
/// guarantee the caller's name in a topic, and the daemon's mappings say what that caller may do.
package final class MQTTGateway {
    private let options: MQTTOptions
    private let log: ServiceLog
    private var manager: ServiceManager
    private let topics: FleetTopics
    private let waker: Waker
    private let broker: MQTTLink
    private let device: DeviceLink
    /// Writes what must be on the disk, and parses and writes what is long.
    private let files: SideThread<GatewayWork>
    private let texts: SideThread<GatewayWork>
    private let calls: CallReceiver
    private let presence: Presence
    private var feed: DeviceFeed
    private var complaints: Complaints
    private let publisher: Publisher
    private var subscribing: [Int32: String] = [:]
    private var signals: Int32 = -1
    private var endsBefore: ContinuousClock.Instant?
    private var watchdog: WatchdogFeed
    private var brokerProblem: String? = MQTTLink.notYet

    private static let willDelay: UInt32 = 5
    private static let keepAlive: Int32 = 60
    /// This many connections lost soon after they were made are unlikely to be an accident.
    private static let suspicious = 3
    /// How long running calls have to finish when the gateway stops.
    private static let timeout = Duration.seconds(5)
    /// How long the loop works before it looks at what has come.
    private static let slice = Duration.milliseconds(1)

    package init(
        _ options: MQTTOptions,
        log: ServiceLog,
        manager: ServiceManager
    ) throws {
        self.options = options
        self.log = log
        self.manager = manager
        let settings = options.settings
        topics = FleetTopics(prefix: settings.prefix)
        let waker = try Waker()
        self.waker = waker
        files = SideThread("files") { waker.wake() }
        texts = SideThread("texts") { waker.wake() }
        let status = topics.topic(.status, of: options.device)
        let session = MQTTSession(
            client: options.device,
            expirySeconds: UInt32(settings.sessionSeconds),
            will: MQTTMessage(status, Array(DeviceStatus.offline.rawValue.utf8), isRetained: true),
            willDelaySeconds: Self.willDelay,
            keepAliveSeconds: Self.keepAlive
        )
        broker = try MQTTLink(
            options.broker,
            session,
            pause: ReconnectPause(within: .seconds(settings.reconnectSeconds)),
            waker: waker
        )
        feed = DeviceFeed(settings, topics, device: options.device)
        device = DeviceLink(settings, feed, paths: options.daemonPaths)
        let warn: (String) -> Void = { log.write($0, .warning) }
        calls = CallReceiver(options, topics, files: files, texts: texts, complain: warn)
        presence = Presence(options, topics, complain: warn)
        complaints = Complaints(warn)
        publisher = Publisher(messages: settings.queueMessages, bytes: settings.queueBytes, log: log)
        watchdog = WatchdogFeed(manager)
    }

    /// Runs until SIGTERM or SIGINT, and returns the exit status.
    package func run() -> Int32 {
        signals = qc_signal_descriptor([SIGTERM, SIGINT, SIGHUP], 3)
        guard signals >= 0 else {
            log.write("signalfd: \(SystemCallError.text(-signals))", .error)
            return 1
        }
        device.start()
        while !isOver { turn() }
        leave()
        return 0
    }

    // MARK: The loop

    private func turn() {
        logStatus()
        let fixed = [broker.events, device.events, pollfd(fd: signals, events: Int16(POLLIN), revents: 0)]
        var entries = fixed + calls.events
        _ = waker.sleep(watching: &entries, until: nextMoment)
        watchdog.feed()
        for event in broker.advance(entries[0].revents) { handle(event) }
        takeSideWork()
        for news in device.advance() { handle(news) }
        for line in device.takeLongLines() { texts.run(for: "") { .line(session: nil, "", line.parsed()) } }
        advanceCalls(entries[fixed.count...])
        publisher.add(presence.advance(isConnected: device.isConnected, since: device.since))
        handleSignals()
        if broker.isUp { publisher.handOver(to: broker.client) }
        noteBroker()
        publisher.noteDropped()
    }

    private func takeSideWork() {
        for work in files.takeValues() + texts.takeValues() {
            if case .line(nil, _, let line) = work { device.take(line) } else { calls.take(work, publisher.isFull) }
        }
    }

    private func advanceCalls(_ ready: ArraySlice<pollfd>) {
        for answer in calls.advance(ready, until: .now + Self.slice, isFull: publisher.isFull) {
            switch answer {
            case .reply(let address, let reply): publisher.add(reply, to: address)
            case .message(let address, let message, let isRefusal):
                publisher.add(message, to: address, isRefusal: isRefusal)
            }
        }
    }

    private var nextMoment: ContinuousClock.Instant? {
        let times = [
            broker.nextMoment, device.nextMoment, calls.nextMoment, presence.nextMoment, endsBefore,
            watchdog.nextMoment,
            broker.isUp ? publisher.nextMoment : nil,
        ]
        return times.compactMap { $0 }.min()
    }

    // MARK: The broker

    private func handle(_ event: MQTTClient.Event) {
        switch event {
        case .connected(let isKnown): greet(isKnown)
        case .message(let message): calls.take(message)
        case .published(let number, let reason): note(number, reason)
        case .subscribed(let number, let granted):
            let topic = subscribing.removeValue(forKey: number) ?? ""
            if granted.contains(where: { $0 >= 128 }) {
                log.write("the broker grants no subscription to \(topic)", .error)
            }
        case .disconnected(let reason):
            publisher.goOnWithoutConnection()
            if reason == .takenOver { logOfNamesake() }
        case .refused: break
        }
    }

    private func note(_ number: Int32, _ reason: MQTTReason) {
        if let message = publisher.handle(number, reason) { presence.handle(message) }
    }

    private func greet(_ isKnown: Bool) {
        log.write("connected to \(options.broker.host)\(isKnown ? ", which knew this device" : "")", .info)
        subscribing = [:]
        let targets = [FleetTopics.Target.device(options.device)] + options.settings.groups.map { .group($0) }
        for target in targets {
            let topic = topics.calls(to: target)
            do throws(MQTTError) {
                subscribing[try broker.client.subscribe(to: .init(topic))] = topic
            } catch {
                log.write("\(topic): \(error)", .error)
            }
        }
        // A restarted broker may have lost everything.
        publisher.add(presence.all)
    }

    /// Two clients with the same name disconnect each other, and not every broker reports that.
    private func logOfNamesake() {
        let name = options.device
        complaints.log("the broker may know another client named '\(name)': each device needs a name of its own")
    }

    private func noteBroker() {
        guard broker.problem != brokerProblem else { return }
        brokerProblem = broker.problem
        guard let problem = brokerProblem else { return }
        log.write("\(options.broker.host): \(problem); trying again", .warning)
        if broker.shortConnections >= Self.suspicious { logOfNamesake() }
    }

    // MARK: The device

    private func handle(_ news: DeviceLink.News) {
        switch news {
        case .known(let knowledge):
            publisher.add(presence.take(knowledge))
        case .names(let names):
            feed.names = names
            publisher.add(presence.take(states: names.states))
        case .event(let name, let value):
            for publication in feed.publications(ofEvent: name, value) { publish(publication) }
        case .hardware(let parts): publish(feed.state(MQTTSettings.hardware, HardwarePart.state(parts)))
        case .state(.recording, let value): publish(feed.recording(ofState: value))
        case .state(let name, let value): publish(feed.state(name.rawValue, value))
        case .value(let name, let value): publish(feed.state(name, value))
        case .called(let call): answer(call)
        case .warning(let text): log.write(text, .warning)
        }
    }

    private func publish(_ publication: DeviceFeed.Publication) {
        if publication.kind == .state { presence.note(publication.message) }
        publisher.add(publication.message, publication.kind)
    }

    /// Answers the command `mqtt`, which `quickconnect doctor` calls.
    private func answer(_ call: HandlerCall) {
        let verb = (call.data.arrayValue ?? [call.data]).first
        guard verb?.stringValue ?? "state" == "state" else {
            return device.answer(call, .failure(.expected("verb, state", at: "/0", got: verb)))
        }
        let state: JSONObject = [
            "broker": .string("\(options.broker.host):\(options.broker.port)"), "connected": .bool(broker.isUp),
            "problem": broker.problem.map(JSONValue.string) ?? .null, "device": .string(options.device),
            "groups": .array(options.settings.groups.map(JSONValue.string)),
            "callers": .integer(Int64(calls.callerCount)),
            "largest": .array(calls.largest.map { ["caller": .string($0.peer), "bytes": .integer(Int64($0.used))] }),
            "waiting": .integer(Int64(publisher.waitingCount)),
            "droppedEvents": .integer(Int64(publisher.droppedEvents)),
            "droppedReplies": .integer(Int64(publisher.droppedReplies)),
        ]
        device.answer(call, .success(.object(state)))
    }

    // MARK: The end

    private func handleSignals() {
        while true {
            switch qc_next_signal(signals) {
            case SIGTERM, SIGINT:
                guard endsBefore == nil else { continue }
                manager.stopping("waiting for running calls to finish")
                endsBefore = .now + Self.timeout
                calls.isStopping = true
            case SIGHUP: continue
            default: return
            }
        }
    }

    private var isOver: Bool {
        guard let end = endsBefore else { return false }
        return end <= .now || calls.isIdle && publisher.isEmpty
    }

    /// Announces that the device is gone, if the broker can be reached.
    private func leave() {
        calls.close()
        let end = ContinuousClock.now + .seconds(2)
        publisher.add(presence.goodbye)
        while broker.isUp, end > .now, !publisher.isEmpty || !publisher.isAcknowledged {
            takeSideWork()
            advanceCalls([])
            publisher.handOver(to: broker.client)
            var entries = [broker.events]
            _ = waker.sleep(watching: &entries, until: end)
            for event in broker.advance(entries[0].revents) {
                switch event {
                // A call that comes now is told that the gateway is stopping.
                case .message(let message): calls.take(message)
                case .published(let number, let reason): note(number, reason)
                default: break
                }
            }
        }
        broker.close()
    }

    private func logStatus() {
        guard manager.isThere, endsBefore == nil else { return }
        let line = broker.problem.map { "not connected: \($0)" } ?? "connected to \(options.broker.host)"
        manager.report(line)
    }
}
