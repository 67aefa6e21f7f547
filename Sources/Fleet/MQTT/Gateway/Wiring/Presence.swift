import Configuration
import Fleet
import Glibc
import JSON
import Linux

/// What the broker retains about the device: whether it is there, what it is, its states, and its Home Assistant
/// discovery.
final class Presence {
    typealias Instant = ContinuousClock.Instant

    private let options: MQTTOptions
    private let topics: FleetTopics
    private let complain: (String) -> Void
    private let started = ISOTime.now()
    /// The retained messages, to be sent again to a broker that has lost them.
    private var retained: [String: MQTTMessage] = [:]
    private var record: DiscoveryRecord?
    private var kept: KeptTopics
    private var isOnline: Bool?
    /// What was published last; empty until the daemon has told more.
    private var info: DeviceInfo
    /// The values and schedules whose states are published; nil until the device has told them.
    private var states: [String]?
    private var asksAt: Instant?

    /// How long the daemon may be gone before the device is announced as away, so that a restart is not noticed.
    private static let timeout = Duration.seconds(10)

    init(_ options: MQTTOptions, _ topics: FleetTopics, complain: @escaping (String) -> Void) {
        (self.options, self.topics, self.complain) = (options, topics, complain)
        info = DeviceInfo(hello: .null, commands: [], groups: options.settings.groups, since: started)
        states = options.settings.publishesOwnValues ? nil : options.settings.values
        kept = KeptTopics(options.state.map { "\($0)/topics" }, complain: complain)
        record = recordPath.flatMap { DiscoveryRecord(path: $0) }
        forgetOldRecord()
    }

    private var recordPath: String? { options.state.map { "\($0)/discovery.json" } }

    /// All retained messages, and those that remove obsolete ones.
    var all: [MQTTMessage] { removals + retained.values.sorted { $0.topic < $1.topic } }

    func note(_ message: MQTTMessage) {
        retained[message.topic] = message
        kept.add(message.topic)
    }

    private func noted(_ message: MQTTMessage) -> MQTTMessage {
        note(message)
        return message
    }

    // MARK: Whether it is there

    /// The message to send now if the announced presence is out of date.
    func advance(isConnected: Bool, since: Instant) -> [MQTTMessage] {
        let isOnlineNow = isConnected || isOnline == true && since + Self.timeout > .now
        let isLong = !isConnected && since + Self.timeout <= .now
        asksAt = !isConnected && !isLong ? since + Self.timeout : nil
        var messages: [MQTTMessage] = []
        if isLong, info.gone == nil { messages.append(noted(went(DeviceInfo.noDaemon))) }
        guard isOnlineNow != isOnline else { return messages }
        isOnline = isOnlineNow
        return messages + [noted(status(isOnlineNow ? .online : .offline))]
    }

    var nextMoment: Instant? { asksAt }

    private func status(_ status: DeviceStatus) -> MQTTMessage {
        MQTTMessage(topics.topic(.status, of: options.device), Array(status.rawValue.utf8), isRetained: true)
    }

    /// What to say last.
    var goodbye: [MQTTMessage] {
        [info.gone == nil ? went("quickconnect-mqtt was ended there") : nil, status(.offline)].compactMap(\.self)
    }

    private func went(_ reason: String) -> MQTTMessage {
        info.gone = DeviceInfo.Gone(since: ISOTime.now(), reason: reason)
        return message(of: info)
    }

    private func message(of info: DeviceInfo) -> MQTTMessage {
        MQTTMessage(topics.topic(.info, of: options.device), Array(info.json.text.utf8), isRetained: true)
    }

    // MARK: What it is

    func take(_ knowledge: DeviceKnowledge) -> [MQTTMessage] {
        let reachable = reachable(knowledge)
        info = DeviceInfo(
            hello: knowledge.hello ?? .null,
            commands: reachable.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) },
            publishes: published(knowledge),
            groups: options.settings.groups,
            since: started
        )
        let message = message(of: info)
        return (retained[message.topic] == message ? [] : [noted(message)]) + discovery(knowledge, reachable)
    }

    /// The commands that the daemon has, its socket lists, and the settings allow callers.
    private func reachable(_ knowledge: DeviceKnowledge) -> Set<String> {
        var names = Set(knowledge.commands?.names ?? []).subtracting(FleetCommands.ofConnections)
        if let listed = options.socketCommands { names = names.filter { listed.contains($0) || knowledge.isOwn($0) } }
        if let listed = options.settings.commands { names.formIntersection(listed) }
        return names
    }

    private func published(_ knowledge: DeviceKnowledge) -> [String] {
        let settings = options.settings
        let listed = settings.events.map(\.name) + settings.states.map(\.name.rawValue)
        return Set(listed + knowledge.names(by: settings).subscriptions).sorted()
    }

    // MARK: Home Assistant

    private func discovery(_ knowledge: DeviceKnowledge, _ reachable: Set<String>) -> [MQTTMessage] {
        guard let home = options.settings.homeAssistant else { return [] }
        let discovery = Discovery(home: home, topics: topics, device: options.device, version: options.version)
        let before = record?.topic == discovery.topic ? record?.platforms ?? [:] : [:]
        let components = DeviceComponents(
            settings: options.settings,
            home: home,
            topics: topics,
            device: options.device,
            knowledge: knowledge,
            reachable: reachable,
            before: Set(before.keys)
        ).all
        let message = discovery.message(components, before: before)
        keep(DiscoveryRecord(topic: discovery.topic, components))
        guard retained[message.topic] != message else { return [] }
        return [discovery.removal(components, before: before), noted(message)].compactMap(\.self)
    }

    private func keep(_ new: DiscoveryRecord) {
        guard new != record else { return }
        record = new
        guard let path = recordPath else { return }
        do throws(SystemCallError) { try new.write(to: path) } catch {
            complain("\(path): \(error); Home Assistant may keep entities that are gone")
        }
    }

    private var discoveryTopic: String? {
        options.settings.homeAssistant.map { Discovery.topic($0, options.device) }
    }

    private func forgetOldRecord() {
        guard let old = record?.topic, old != discoveryTopic else { return }
        if let path = recordPath { unlink(path) }
        record = nil
    }

    // MARK: What is not to be kept any more

    /// Messages that remove what the broker still retains but should not: states that the settings no longer list, old
    /// discovery messages, and everything under an earlier name of the device.
    private var removals: [MQTTMessage] {
        // Until they are known, any state may be one's.
        let unknown = states == nil ? kept.topics.filter(isState) : []
        let hardware = options.settings.homeAssistant == nil ? [] : [MQTTSettings.hardware]
        let states = options.settings.states.map(\.name.rawValue) + hardware + (self.states ?? [])
        let subjects = [.status, .info] + states.map { FleetTopics.Subject.state($0) }
        let wanted = subjects.map { topics.topic($0, of: options.device) } + [discoveryTopic].compactMap(\.self)
        return kept.others(than: Set(wanted).union(unknown)).map { MQTTMessage($0, [], isRetained: true) }
    }

    private func isState(_ topic: String) -> Bool {
        guard case (options.device, .state)? = topics.readSubject(topic) else { return false }
        return true
    }

    /// The device has told whose states are published.
    /// - Returns: messages that remove others.
    func take(states new: [String]) -> [MQTTMessage] {
        for name in states ?? [] where !new.contains(name) {
            retained[topics.topic(.state(name), of: options.device)] = nil
        }
        states = new
        return removals
    }

    /// The broker has accepted a message.
    func handle(_ message: MQTTMessage) {
        if message.isRetained, message.payload.isEmpty { kept.remove(message.topic) }
    }
}
