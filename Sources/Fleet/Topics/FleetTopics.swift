/// The names of a fleet's topics: `qc/DEVICE/call/CALLER/COMMAND` and the others.
package struct FleetTopics: Sendable, Hashable {
    /// The beginning of all topics, such as `qc`.
    package let prefix: String

    package init(prefix: String = Self.defaultPrefix) { self.prefix = prefix }

    package static let defaultPrefix = "qc"
    /// The name that replaces the device's in a group's topic. No device has this name.
    package static let group = "group"

    /// Whom a call is for.
    package enum Target: Sendable, Hashable {
        case device(String)
        case group(String)

        /// `NAME` or `group:NAME`; nil if the name can be none.
        package init?(_ text: String) {
            let start = "\(FleetTopics.group):"
            let isGroup = text.hasPrefix(start)
            let name = isGroup ? String(text.dropFirst(start.count)) : text
            guard FleetName.isValid(name), isGroup || name != FleetTopics.group else { return nil }
            self = isGroup ? .group(name) : .device(name)
        }

        /// As messages call it.
        package var words: String {
            switch self {
            case .device(let name): "the device \(name)"
            case .group(let name): "the group \(name)"
            }
        }

        package var name: String {
            switch self {
            case .device(let name), .group(let name): name
            }
        }

        /// What a message of a device that cannot be reached ends with.
        package var question: String {
            guard case .device(let name) = self else { return "" }
            return "; if \(name) is a group: --device \(FleetTopics.group):\(name)"
        }
    }

    // MARK: Calls

    /// Where a call is published; nil for a command with a character that is special in topics.
    package func call(_ command: String, to target: Target, from caller: String) -> String? {
        guard !command.isEmpty, !command.utf8.contains(where: "/+#\0".utf8.contains) else { return nil }
        return "\(place(of: target))/call/\(caller)/\(command)"
    }

    /// What a device or a member of a group subscribes to for calls.
    package func calls(to target: Target) -> String { "\(place(of: target))/call/+/+" }

    private func place(of target: Target) -> String {
        switch target {
        case .device(let name): "\(prefix)/\(name)"
        case .group(let name): "\(prefix)/\(Self.group)/\(name)"
        }
    }

    /// A call's topic, read.
    package struct Call: Sendable, Hashable {
        package var target: Target
        package var caller: String
        package var command: String
    }

    /// Nil if the topic is not a call's, or has an invalid name.
    package func readCall(_ topic: String) -> Call? {
        guard var levels = levels(of: topic), let target = takeTarget(&levels), levels.count == 3, levels[0] == "call",
            FleetName.isValid(levels[1]), !levels[2].isEmpty
        else { return nil }
        return Call(target: target, caller: levels[1], command: levels[2])
    }

    /// Takes the device or the group from the front.
    private func takeTarget(_ levels: inout [String]) -> Target? {
        let isGroup = levels.first == Self.group
        if isGroup { levels.removeFirst() }
        guard let name = levels.first, FleetName.isValid(name) else { return nil }
        levels.removeFirst()
        return isGroup ? .group(name) : .device(name)
    }

    /// The levels of a topic after the prefix; nil if it has another prefix.
    private func levels(of topic: String) -> [String]? {
        let start = "\(prefix)/"
        guard topic.utf8.starts(with: start.utf8) else { return nil }
        // By bytes, like the broker: a combining mark forms one Character with the slash before it.
        return topic.utf8.dropFirst(start.utf8.count).split(
            separator: UInt8(ascii: "/"),
            omittingEmptySubsequences: false
        )
        .map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: Replies

    /// Where a device reports errors that cannot be answered on a response topic.
    package func reply(of device: String, to caller: String) -> String { "\(prefix)/\(device)/reply/\(caller)" }

    /// The response topic in a call to a target. Each member of a group replaces the group's name by its own.
    package func response(of target: Target, to caller: String, _ rest: String) -> String {
        "\(place(of: target))/reply/\(caller)/\(rest)"
    }

    /// Where a device may answer a call: only below its own topic for this caller, because the caller can put anything
    /// into the response topic. In a group's call, the group's name is replaced by the device's.
    /// - Returns: nil if the response topic may not be used.
    package func answerTopic(_ response: String, of device: String, to call: Call) -> String? {
        guard var levels = levels(of: response), response.utf8.count <= Self.maxTopic,
            !response.utf8.contains(where: "+#\0".utf8.contains), let named = takeTarget(&levels), levels.count >= 3,
            levels[0] == "reply", levels[1] == call.caller, !levels[2].isEmpty
        else { return nil }
        switch call.target {
        case .device: guard named == .device(device) else { return nil }
        case .group: break
        }
        return "\(reply(of: device, to: call.caller))/\(levels[2...].joined(separator: "/"))"
    }

    private static let maxTopic = 1024

    /// The device, and the part after `reply/CALLER/`, of a reply's topic; nil if it is not a reply to that caller.
    package func readReply(_ topic: String, to caller: String) -> (device: String, rest: String)? {
        guard let levels = levels(of: topic), levels.count >= 3, FleetName.isValid(levels[0]), levels[1] == "reply",
            levels[2] == caller
        else { return nil }
        return (levels[0], levels[3...].joined(separator: "/"))
    }

    // MARK: What a device tells

    /// The kinds of messages that a device publishes about itself.
    package enum Subject: Sendable, Hashable {
        /// `online` or `offline`.
        case status
        /// What it is: a ``DeviceInfo``.
        case info
        case event(String)
        case state(String)
    }

    package func topic(_ subject: Subject, of device: String) -> String {
        switch subject {
        case .status: "\(prefix)/\(device)/status"
        case .info: "\(prefix)/\(device)/info"
        case .event(let name): "\(prefix)/\(device)/event/\(name)"
        case .state(let name): "\(prefix)/\(device)/state/\(name)"
        }
    }

    /// Nil if the topic tells nothing of a device.
    package func readSubject(_ topic: String) -> (device: String, subject: Subject)? {
        guard let levels = levels(of: topic), let device = levels.first, FleetName.isValid(device) else { return nil }
        switch (levels.count, levels.count > 1 ? levels[1] : "") {
        case (2, "status"): return (device, .status)
        case (2, "info"): return (device, .info)
        case (3, "event"): return (device, .event(levels[2]))
        case (3, "state"): return (device, .state(levels[2]))
        default: return nil
        }
    }
}
