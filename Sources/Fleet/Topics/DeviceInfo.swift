public import JSON

/// The payload of `info`: `{"hello": …, "commands": [name, …], "groups": [name, …], "since": time}`.
public struct DeviceInfo: Sendable, Equatable {
    /// What the daemon's `hello` answers.
    public var hello: JSONValue
    /// What calls over the broker may ask for.
    public var commands: [String]
    public var groups: [String]
    /// Since when the device is there, in ISO 8601.
    public var since: String

    public init(hello: JSONValue, commands: [String], groups: [String], since: String) {
        (self.hello, self.commands, self.groups, self.since) = (hello, commands, groups, since)
    }

    public var json: JSONValue {
        [
            "hello": hello, "commands": .array(commands.map(JSONValue.string)),
            "groups": .array(groups.map(JSONValue.string)), "since": .string(since),
        ]
    }

    /// Nil if it is something else.
    public init?(_ json: JSONValue) {
        guard let members = json.objectValue, let hello = members["hello"] else { return nil }
        func words(_ name: String) -> [String] { (members[name]?.arrayValue ?? []).compactMap(\.stringValue) }
        self.init(
            hello: hello,
            commands: words("commands"),
            groups: words("groups"),
            since: members["since"]?.stringValue ?? ""
        )
    }

    public var version: String? { hello.objectValue?["version"]?.stringValue }
}
