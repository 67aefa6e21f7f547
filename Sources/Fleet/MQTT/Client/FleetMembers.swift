package import Fleet
package import JSON
package import QuickConnect

/// What devices have published about themselves. A value without input or output.
package struct FleetMembers: Sendable {
    /// One of the devices.
    package struct Member: Sendable {
        package var name: String
        package var status: DeviceStatus?
        package var info: DeviceInfo?
        /// Its doctor's report, if the device publishes it.
        package var report: DoctorReport?
    }

    private let topics: FleetTopics
    private var members: [String: Member] = [:]

    package init(_ topics: FleetTopics) { self.topics = topics }

    /// Takes a message in, and returns whether it told something of a device.
    @discardableResult
    package mutating func take(_ message: MQTTMessage) -> Bool {
        guard let (device, subject) = topics.readSubject(message.topic) else { return false }
        let text = String(decoding: message.payload, as: UTF8.self)
        var member = members[device] ?? Member(name: device)
        switch subject {
        case .status: member.status = DeviceStatus(rawValue: text)
        case .info: member.info = (try? JSONParser.parse(text)).flatMap { DeviceInfo($0) }
        case .state("doctor"): member.report = (try? JSONParser.parse(text)).flatMap { DoctorReport($0) }
        case .state, .event: return false
        }
        members[device] = member
        return true
    }

    /// All of them, by their names.
    package var all: [Member] { members.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) } }

    package subscript(name: String) -> Member? { members[name] }

    /// Those of a group that are there.
    package func present(in group: String) -> Set<String> { members(of: group) { $0 == .online } }

    /// Those of a group that have told of themselves once, and are away now.
    package func away(in group: String) -> Set<String> { members(of: group) { $0 == .offline } }

    private func members(of group: String, _ isOne: (DeviceStatus?) -> Bool) -> Set<String> {
        Set(members.values.filter { isOne($0.status) && $0.info?.groups.contains(group) ?? false }.map(\.name))
    }
}

extension FleetMembers.Member {
    /// For programs.
    package var json: JSONValue {
        [
            "device": .string(name), "status": status.map { .string($0.rawValue) } ?? .null,
            "since": info.map { .string($0.since) } ?? .null, "version": info?.version.map(JSONValue.string) ?? .null,
            "groups": .array((info?.groups ?? []).map(JSONValue.string)),
            "gone": gone?.json ?? .null,
            "ok": report.map { .bool($0.isOK) } ?? .null,
            "errors": .array(
                (report?.findings ?? []).filter { $0.state == .error }.map { .string("\($0.subject): \($0.says)") }
            ),
        ]
    }

    /// When an absent device went, and why, if it could say so.
    private var gone: DeviceInfo.Gone? { status == .offline ? info?.gone : nil }

    /// Since when it is there, or away; nil where nobody knows.
    package var since: String? { status == .offline ? gone?.since : info?.since }

    /// That it is away or back, in a line for people.
    package var presence: String {
        guard status == .offline else { return "\(name) is online again" }
        return "\(name) is offline" + (gone.map { " since \($0.since): \($0.reason)" } ?? "")
    }

    /// What its doctor says, in a few words; of an absent device, why it is away.
    package var doctor: String {
        if let gone { return gone.reason }
        guard let report else { return "-" }
        let errors = report.findings.filter { $0.state == .error }.map(\.subject)
        return errors.isEmpty ? "ok" : "error: \(errors.joined(separator: ", "))"
    }
}
