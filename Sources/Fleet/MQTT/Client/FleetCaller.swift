package import Fleet
internal import Glibc
internal import QuickConnect

/// Makes calls to devices elsewhere, and hears what they tell.
package final class FleetCaller {
    package typealias Instant = ContinuousClock.Instant

    private let connection: BrokerConnection
    package let topics: FleetTopics
    package let name: String
    /// Distinguishes the answers of this program from those of another program with the same caller's name.
    private let place: String

    /// Retained messages count as complete when none has come for this long.
    private static let quiet = Duration.milliseconds(300)
    private static let maxLook = Duration.seconds(20)
    /// How long a broker has to answer.
    private static let patience = Duration.seconds(10)
    /// How long a call stays at the broker for a device that is away.
    package static let expirySeconds: UInt32 = 10

    /// Connects.
    /// - Parameter name: the caller's name, which the broker's access rules must allow this client.
    package init(_ broker: MQTTBroker, topics: FleetTopics, name: String) throws(FleetFailure) {
        self.topics = topics
        self.name = name
        place = Self.random(8)
        connection = try BrokerConnection(broker, name: "qc-\(name.prefix(40))-\(place)")
        try connection.connect(before: .now + Self.patience)
    }

    private static func random(_ count: Int) -> String {
        (0..<count).map { _ in String(UInt8.random(in: 0..<16), radix: 16) }.joined()
    }

    // MARK: Who is there

    /// What devices publish about themselves, within the limits of this caller's access.
    /// - Parameter device: nil asks all.
    package func look(at device: String? = nil) throws(FleetFailure) -> FleetMembers {
        var members = FleetMembers(topics)
        let subjects = [FleetTopics.Subject.status, .info, .state("doctor")].map { topics.topic($0, of: device ?? "+") }
        try connection.subscribe(to: subjects, bringingRetained: true, before: .now + Self.patience)
        let end = Instant.now + Self.maxLook
        while let message = try connection.next(before: min(end, .now + Self.quiet)) { members.take(message) }
        return members
    }

    /// What to ask where nobody has a name: for one that is nearly it, or whether it is a group's.
    package func question(_ target: FleetTopics.Target) -> String {
        let members = (try? look())?.all ?? []
        let known =
            switch target {
            case .device: members.map(\.name)
            case .group: Set(members.flatMap { $0.info?.groups ?? [] }).sorted()
            }
        let near = known.contains(target.name) ? "" : NearestNames.question(target.name, among: known)
        return near.isEmpty ? target.question : near
    }

    // MARK: Calls

    /// What happens while a call is running.
    package enum Progress: Sendable {
        case answered(device: String, FleetReply)
        /// The device is away; the broker keeps the call for it, for that many seconds.
        case away(device: String, seconds: UInt32)
        /// A second has passed.
        case waiting(ExpectedAnswers)
    }

    /// Makes a call.
    /// - Parameters:
    ///   - payload: the parameters, as the text of `msg`.
    ///   - spread: within how many seconds the members of a group answer.
    ///   - timeout: nil waits for as long as it takes; a group's answers are awaited for 30 seconds then.
    /// - Returns: what has come, and what has not.
    package func call(
        _ command: String,
        _ payload: String?,
        to target: FleetTopics.Target,
        spread: Double? = nil,
        timeout: Double?,
        _ report: (Progress) -> Void
    ) throws(FleetFailure) -> ExpectedAnswers {
        guard let topic = topics.call(command, to: target, from: name) else {
            throw .unusable("'\(command)' cannot be called over a broker: no /, + and # may be in it")
        }
        var watch = Watch(members: FleetMembers(topics), target: target)
        if case .group = target { watch.members = try look() }
        try listen(to: target)
        let data = (0..<16).map { _ in UInt8.random(in: 0...255) }
        var away: Set<String> = []
        if case .group(let group) = target { away = watch.members.away(in: group) }
        var answers = ExpectedAnswers(of: watch.expected, away: away, topics, caller: name, correlationData: data)
        let message = MQTTMessage(
            topic,
            Array((payload ?? "").utf8),
            responseTopic: topics.response(of: target, to: name, place),
            correlationData: data,
            expirySeconds: Self.expiry(timeout),
            userProperties: spread.map { [.init(FleetProperty.spread, "\($0)")] } ?? []
        )
        try check(try connection.publish(message, before: .now + Self.patience), target, command)
        watch.sentAt = .now
        watch.expirySeconds = message.expirySeconds ?? Self.expirySeconds
        answers.expirySeconds = watch.expirySeconds
        watch.deadline = timeout.map { .now + .seconds($0) }
        if watch.deadline == nil, case .group = target { watch.deadline = .now + .seconds(30 + (spread ?? 1)) }
        try collect(&answers, &watch, report)
        if watch.isUnknown, !answers.missing.isEmpty { answers.question = question(target) }
        return answers
    }

    private static func expiry(_ timeout: Double?) -> UInt32 {
        timeout.map { UInt32(min(max($0.rounded(.up), 1), Double(expirySeconds))) } ?? expirySeconds
    }

    private func listen(to target: FleetTopics.Target) throws(FleetFailure) {
        let deadline = Instant.now + Self.patience
        switch target {
        case .group:
            try connection.subscribe(to: [topics.response(of: .device("+"), to: name, place)], before: deadline)
        case .device(let device):
            try connection.subscribe(to: [topics.response(of: target, to: name, place)], before: deadline)
            let status = topics.topic(.status, of: device)
            try connection.subscribe(to: [status], bringingRetained: true, before: deadline)
        }
    }

    private func check(
        _ reason: MQTTReason,
        _ target: FleetTopics.Target,
        _ command: String
    ) throws(FleetFailure) {
        if reason == .nobody {
            throw .nobody("no device receives calls for \(target.words), and none will later\(question(target))")
        }
        guard !reason.isRefusal else {
            let what = "denied: the broker does not let \(name) call \(command) on \(target.words): \(reason)"
            throw .denied(what + question(target))
        }
    }

    /// What is known about the devices that should answer.
    private struct Watch {
        var members: FleetMembers
        let target: FleetTopics.Target
        var sentAt = Instant.now
        var expirySeconds: UInt32 = 0
        var deadline: Instant?
        var hasToldAway = false

        var expected: Set<String> {
            switch target {
            case .device(let name): [name]
            case .group(let name): members.present(in: name)
            }
        }

        /// Whether the one device is away.
        var isAway: Bool {
            guard case .device(let name) = target else { return false }
            return members[name]?.status == .offline
        }

        /// Whether the broker no longer keeps the call for an absent device, with some tolerance for its clock. A
        /// device that publishes nothing about itself gets no longer either, unless the caller sets a timeout.
        var isLate: Bool {
            (isAway || isUnknown && deadline == nil) && sentAt + .seconds(Int(expirySeconds) + 2) <= .now
        }

        /// Whether it is one device, of which the broker knows nothing.
        var isUnknown: Bool {
            guard case .device(let name) = target else { return false }
            return members[name]?.status == nil
        }

        var nextLook: Instant {
            let second = Instant.now + .seconds(1)
            return deadline.map { min($0, second) } ?? second
        }
    }

    private func collect(
        _ answers: inout ExpectedAnswers,
        _ watch: inout Watch,
        _ report: (Progress) -> Void
    ) throws(FleetFailure) {
        let isOpen = answers.missing.isEmpty
        while isOpen || !answers.missing.isEmpty {
            if let message = try connection.next(before: watch.nextLook) {
                if watch.members.take(message) { continue }
                if let (device, reply) = answers.take(message) { report(.answered(device: device, reply)) }
            } else {
                report(.waiting(answers))
            }
            if watch.isAway, !watch.hasToldAway {
                watch.hasToldAway = true
                report(.away(device: watch.target.name, seconds: watch.expirySeconds))
            }
            if watch.isLate { return }
            if let deadline = watch.deadline, deadline <= .now { return }
        }
    }

    // MARK: Events

    /// Hears events and states, until the connection is lost.
    /// - Parameters:
    ///   - names: what to hear.
    ///   - device: nil hears those of every device.
    ///   - tell: gets a device that is away, or that is back.
    package func hear(
        _ names: [String],
        of device: String?,
        presence tell: (FleetMembers.Member) -> Void,
        _ report: (_ device: String, _ name: String, _ payload: [UInt8]) -> Void
    ) throws(FleetFailure) {
        let deadline = Instant.now + Self.patience
        var members = FleetMembers(topics)
        // `info` first, because it says why the device is away; and both before old states.
        for subject in [FleetTopics.Subject.info, .status] {
            let topic = topics.topic(subject, of: device ?? "+")
            do throws(FleetFailure) {
                try connection.subscribe(to: [topic], bringingRetained: true, before: deadline)
            } catch {
                // Whoever may read nothing but events still hears them.
                guard case .denied = error else { throw error }
            }
        }
        for name in names {
            let topicsOfName = [FleetTopics.Subject.event(name), .state(name)].map {
                topics.topic($0, of: device ?? "+")
            }
            try connection.subscribe(to: topicsOfName, bringingRetained: true, before: deadline)
        }
        while true {
            guard let message = try connection.next(before: nil) else { continue }
            switch topics.readSubject(message.topic) {
            case (let teller, .event(let name))?, (let teller, .state(let name))?:
                // A look has subscribed to more.
                guard names.contains(name), device == nil || device == teller else { continue }
                report(teller, name, message.payload)
            case (let teller, .status)?:
                let wasAway = members[teller]?.status == .offline
                members.take(message)
                guard device == nil || device == teller, let member = members[teller] else { continue }
                if member.status == (wasAway ? .online : .offline) { tell(member) }
            case (_, .info)?: members.take(message)
            case nil: continue
            }
        }
    }
}
