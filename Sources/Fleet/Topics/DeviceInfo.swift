package import JSON

/// The payload of `info`: `{"hello": …, "commands": [name, …], "publishes": [name, …], "groups": [name, …], "since":
/// time}`, and while the device is away, as far as it could say so, `"gone": {"since": time, "reason": text}`.
package struct DeviceInfo: Sendable, Equatable {
    /// What the daemon's `hello` answers.
    package var hello: JSONValue
    /// What calls over the broker may ask for.
    package var commands: [String]
    /// The events and states that it publishes; nil if it is of a version that does not say so.
    package var publishes: [String]?
    package var groups: [String]
    /// Since when the device is there, in ISO 8601.
    package var since: String

    /// When it went away, and why; nil while it is there, and where it could not say so, as without power.
    package var gone: Gone?

    package struct Gone: Sendable, Equatable {
        /// In ISO 8601.
        package var since: String
        /// For people.
        package var reason: String

        package init(since: String, reason: String) { (self.since, self.reason) = (since, reason) }

        package var json: JSONValue { ["since": .string(since), "reason": .string(reason)] }
    }

    package init(
        hello: JSONValue,
        commands: [String],
        publishes: [String]? = nil,
        groups: [String],
        since: String,
        gone: Gone? = nil
    ) {
        (self.hello, self.commands, self.groups, self.since) = (hello, commands, groups, since)
        (self.publishes, self.gone) = (publishes, gone)
    }

    package var json: JSONValue {
        JSONValue(present: [
            "hello": hello, "commands": .array(commands.map(JSONValue.string)),
            "publishes": publishes.map { .array($0.map(JSONValue.string)) },
            "groups": .array(groups.map(JSONValue.string)), "since": .string(since), "gone": gone?.json,
        ])
    }

    /// Nil if it is something else.
    package init?(_ json: JSONValue) {
        guard let members = json.objectValue, let hello = members["hello"] else { return nil }
        func words(_ name: String) -> [String] { (members[name]?.arrayValue ?? []).compactMap(\.stringValue) }
        self.init(
            hello: hello,
            commands: words("commands"),
            publishes: members["publishes"].map { _ in words("publishes") },
            groups: words("groups"),
            since: members["since"]?.stringValue ?? ""
        )
        guard let gone = members["gone"]?.objectValue, let since = gone["since"]?.stringValue else { return }
        self.gone = Gone(since: since, reason: gone["reason"]?.stringValue ?? "")
    }

    package var version: String? { hello.objectValue?["version"]?.stringValue }

    /// The reason where the daemon does not run.
    package static let noDaemon = "its daemon does not run: «systemctl status quickconnectd» there"
}
