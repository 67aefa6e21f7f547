import Configuration
import Glibc
import JSON
import QuickConnect
import QuickConnectClient

/// The gateway's own connection to the daemon, on the ordinary socket: it asks what the device is and can do, receives
/// its events, and answers the command `mqtt`.
final class DeviceLink {
    typealias Instant = ContinuousClock.Instant

    /// What the daemon has reported.
    enum News {
        /// The device is known, for the first time or again.
        case known(DeviceKnowledge)
        /// What is published of what the mappings declare, where the settings do not list it.
        case names(PublishedNames)
        case event(String, JSONValue)
        /// A requested state.
        case state(MQTTSettings.State.Name, JSONValue)
        /// Which parts of the device answer, for Home Assistant.
        case hardware([HardwarePart: Bool])
        /// The state of a value or a schedule.
        case value(String, JSONValue)
        /// The command `mqtt` was called.
        case called(HandlerCall)
        case warning(String)
    }

    private enum Question: Hashable {
        case hello, commands, sounds, files, report
        case state(MQTTSettings.State.Name)
        case value(String)
        /// Whether Home Assistant may run a schedule, or set a value.
        case right(String)

        /// Whether its reply is a part of the device's description.
        var isOfDevice: Bool {
            switch self {
            case .hello, .commands, .sounds, .files, .report, .right: true
            case .state, .value: false
            }
        }
    }

    private let settings: MQTTSettings
    private var feed: DeviceFeed
    private let link: DaemonLink
    private var questions: [CallID: Question] = [:]
    private var knowledge = DeviceKnowledge()
    private var reported: DeviceKnowledge?
    private var hardware: [HardwarePart: Bool] = [:]
    /// Why states are not known, which has been said.
    private var failures: [Question: String] = [:]
    private var news: [News] = []
    /// What has a name that cannot be published, which has been said.
    private var nameless: Set<String> = []
    /// The states of schedules that were told last.
    private var told: [String: JSONValue] = [:]
    private var nextAsking: [Question: Instant] = [:]
    /// When the connection was made or lost.
    private(set) var since = Instant.now

    static let handler = "mqtt"
    private static let locationTimeout = 30_000
    /// How many seconds after a schedule's time it is asked, if no event came, and while it runs; and after how many at last.
    private static let (lateness, longest): (Int64, Int64) = (10, 3600)

    init(_ settings: MQTTSettings, _ feed: DeviceFeed, paths: [String]) {
        (self.settings, self.feed) = (settings, feed)
        var bounds = ClientConversation.Bounds()
        bounds.putAsideBytes = 65_536
        link = DaemonLink(ClientConversation(bounds: bounds), paths: paths, patience: .milliseconds(10))
        link.isWanted = true
        link.conversation.register(handler: Self.handler)
        link.conversation.subscribe(to: Self.reloadEvent)
        for name in feed.subscriptions { link.conversation.subscribe(to: name) }
    }

    /// The event that reports other commands or values.
    private static let reloadEvent = "commands"

    var isConnected: Bool { link.connection != nil }

    func start() { link.owner = self }

    // MARK: In the loop

    var events: pollfd { link.events }
    var nextMoment: Instant? { ([link.nextMoment] + nextAsking.values.map { $0 }).compactMap { $0 }.min() }

    func advance() -> [News] {
        link.receive()
        for event in link.conversation.takeEvents() { handle(event) }
        if isConnected { askAgain() }
        try? link.advance()
        for event in link.conversation.takeEvents() { handle(event) }
        defer { news = [] }
        return news
    }

    /// Lines that another thread should parse.
    func takeLongLines() -> [LongLine] { link.conversation.takeLongLines() }

    /// Takes such a line again. ``advance()`` has what it says.
    func take(_ line: ParsedLine) { link.conversation.take(line) }

    func answer(_ call: HandlerCall, _ result: Result<JSONValue, HandlerCall.Failure>) {
        link.conversation.answer(call, with: result.map { HandlerCall.Answer($0) })
    }

    // MARK: Questions

    private func ask(_ question: Question) {
        guard !questions.values.contains(question) else { return }
        let (command, parameters) = call(question)
        let message: CallMessage = parameters.isEmpty ? .none : .value(.array(parameters))
        questions[link.conversation.call(command, message)] = question
    }

    private func call(_ question: Question) -> (command: String, [JSONValue]) {
        switch question {
        case .hello: ("hello", [])
        case .commands: ("commands", [])
        case .sounds: ("sounds", [])
        case .files: ("media", ["list"])
        case .report, .state(.doctor): ("doctor", [])
        case .state(.volume): ("volume", [])
        case .state(.recording): ("state", [])
        case .state(.location): ("location", [["timeout": .integer(Int64(Self.locationTimeout))]])
        case .value(let name): (name, [])
        case .right(let name):
            ("can", [.string(name), .string(homeCaller), ["verb": .string(verb(ofSetting: name))]])
        }
    }

    private var homeCaller: String {
        GatewayName.of(settings.homeAssistant?.caller ?? "", through: MQTTSettings.gateway)
    }

    private func verb(ofSetting name: String) -> String {
        knowledge.isSchedule(name) ? PlannedCall.run : VerbRules.setting
    }

    /// Asks for the whole description of the device.
    private func askAll() {
        knowledge = DeviceKnowledge()
        // Earlier questions may be answered with old data.
        questions = questions.filter { !$0.value.isOfDevice }
        for question in [Question.hello, .commands] { ask(question) }
        for (question, _) in inventory { ask(question) }
        if settings.homeAssistant != nil { ask(.sounds) }
        if !settings.publishesOwnValues { for name in settings.values { ask(.value(name)) } }
        for state in settings.states { ask(.state(state.name)) }
    }

    /// What Home Assistant shows of hardware that comes and goes, and how often it is looked for, in seconds.
    private var inventory: [(Question, seconds: Double)] {
        settings.homeAssistant == nil ? [] : [(.files, 30), (.state(.volume), 30), (.report, 600)]
    }

    /// What is asked again and again, since the device does not report it by itself.
    private var repeated: [(Question, seconds: Double)] {
        settings.states.compactMap { state in state.everySeconds.map { (.state(state.name), $0) } } + inventory
    }

    private func askAgain() {
        for (question, seconds) in repeated where isTime(question) {
            nextAsking[question] = .now + .seconds(seconds)
            ask(question)
        }
        for name in feed.names.schedules where isTime(.value(name)) {
            // Its answer says when the next time is.
            nextAsking[.value(name)] = nil
            ask(.value(name))
        }
    }

    private func isTime(_ question: Question) -> Bool { nextAsking[question].map { $0 <= .now } ?? false }

    // MARK: Answers

    private func handle(_ event: ClientConversation.Event) {
        switch event {
        case .replied(let id, _, let value): take(questions.removeValue(forKey: id), value)
        case .failed(let id, let failure): fail(questions.removeValue(forKey: id), failure)
        case .happened(Self.reloadEvent, _): askAll()
        case .happened(let name, let value):
            news.append(.event(name, value))
            if feed.names.schedules.contains(name) { ask(.value(name)) }
            if name == DeviceFeed.event(of: .volume) { note(.volume, true) }
        case .called(let call): news.append(.called(call))
        case .refused(.subscription(let name), let failure):
            news.append(.warning("the event '\(name)' is not published: \(failure.message)"))
        case .refused(_, let failure):
            news.append(.warning("«quickconnect doctor» will not tell of the fleet: \(failure.message)"))
        case .fault(.told(let error)): news.append(.warning(error.message))
        case .fault(.unreadable(let problem)): news.append(.warning(problem))
        case .stands, .cancelled: break
        }
    }

    private func take(_ question: Question?, _ value: JSONValue) {
        if let question { failures[question] = nil }
        switch question {
        case .hello?: knowledge.hello = value
        case .commands?:
            knowledge.commands = value.objectValue
            if settings.publishesOwnValues { takeOwn() }
            if settings.homeAssistant != nil { for name in feed.names.states { ask(.right(name)) } }
        case .sounds?: knowledge.take(sounds: value)
        case .files?:
            knowledge.take(files: value)
            note(.files, !knowledge.files.isEmpty)
        case .report?: take(report: value)
        case .state(let name)?: take(name, value)
        case .value(let name)?:
            if feed.names.schedules.contains(name) {
                take(schedule: name, value)
            } else {
                news.append(.value(name, value))
            }
        case .right(let name)?: if value.objectValue?["allowed"] == false { knowledge.closed.insert(name) }
        case nil: return
        }
        reportIfKnown()
    }

    private func take(_ state: MQTTSettings.State.Name, _ value: JSONValue) {
        switch state {
        case .volume: note(.volume, true)
        case .location: note(.location, true)
        case .doctor: take(report: value)
        case .recording: break
        }
        if feed.has(state) { news.append(.state(state, value)) }
    }

    private func take(report value: JSONValue) {
        guard let report = DoctorReport(value) else { return }
        knowledge.take(report)
        note(.vibration, knowledge.hasMotor)
    }

    /// Whether a part of the device answers.
    private func note(_ part: HardwarePart, _ isThere: Bool) {
        guard settings.homeAssistant != nil, hardware[part] != isThere else { return }
        hardware[part] = isThere
        news.append(.hardware(hardware))
    }

    /// Subscribes to what has come, and reads it.
    private func takeOwn() {
        let names = knowledge.names(by: settings)
        let published = Set(names.subscriptions)
        for name in knowledge.own.subscriptions where !published.contains(name) && nameless.insert(name).inserted {
            news.append(.warning("'\(name)' is not published: its name cannot be a topic's, or is a state's"))
        }
        let before = Set(feed.subscriptions)
        feed.names = names
        told = told.filter { names.schedules.contains($0.key) }
        nextAsking = nextAsking.filter { question, _ in
            if case .value(let name) = question { names.schedules.contains(name) } else { true }
        }
        let now = Set(feed.subscriptions)
        for name in before.subtracting(now).sorted() { link.conversation.unsubscribe(from: name) }
        for name in feed.subscriptions where !before.contains(name) { link.conversation.subscribe(to: name) }
        news.append(.names(names))
        for name in names.states { ask(.value(name)) }
    }

    /// A run is told by its event, but not its end, a run that was left out, or a clock that was set.
    private func take(schedule name: String, _ state: JSONValue) {
        let members = state.objectValue ?? [:]
        let now = Int64(Glibc.time(nil))
        let seconds = members["next"]?.integerValue.map { max($0 / 1000 - now, 0) + Self.lateness } ?? Self.longest
        let isRunning = members["last"]?.integerValue != nil && members["result"] == .null
        nextAsking[.value(name)] = .now + .seconds(min(seconds, isRunning ? Self.lateness : Self.longest))
        guard told[name] != state else { return }
        told[name] = state
        news.append(.value(name, state))
    }

    /// A device is announced even if a question failed.
    private func fail(_ question: Question?, _ failure: CallFailure) {
        if case .connectionLost = failure { return }
        switch question {
        case .hello?, .commands?: news.append(.warning("the device cannot be announced: \(failure)"))
        case .state(let name)?: fail(name, failure)
        case .value(let name)?: news.append(.warning("the state of '\(name)' is not known: \(failure)"))
        case .files?: note(.files, false)
        case .sounds?, .report?, .right?, nil: break
        }
        reportIfKnown()
    }

    /// What was known is not so any more: a position that a receiver had is not where the device is.
    private func fail(_ state: MQTTSettings.State.Name, _ failure: CallFailure) {
        if let part = HardwarePart(rawValue: state.rawValue) { note(part, false) }
        let why = "\(failure)"
        guard feed.has(state), failures.updateValue(why, forKey: .state(state)) != why else { return }
        news += [.warning("the state '\(state.rawValue)' is not known: \(why)"), .state(state, .null)]
    }

    /// Reports the device when everything has been answered, and something is new.
    private func reportIfKnown() {
        guard !questions.values.contains(where: \.isOfDevice), knowledge.isComplete, knowledge != reported else {
            return
        }
        reported = knowledge
        news.append(.known(knowledge))
    }
}

extension DeviceLink: DaemonLink.Owner {
    func didConnect(again: Bool) -> [UInt8] {
        since = .now
        questions = [:]
        for (question, seconds) in repeated { nextAsking[question] = .now + .seconds(seconds) }
        (told, reported, failures) = ([:], nil, [:])
        askAll()
        return []
    }

    func didLose(_ reason: String) {
        since = .now
        nextAsking = [:]
        news.append(.warning("the connection to the daemon is lost (\(reason)); trying again"))
    }

    func didNotConnect(_ failure: SocketPaths.NoDaemon) { news.append(.warning("\(failure.line); waiting for one")) }
}
