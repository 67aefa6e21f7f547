import JSON
import QuickConnect

/// For whom a page speaks: what `actFor` tells the daemon.
public struct Identity: Sendable, Hashable {
    /// The name, without the gateway's.
    public var name: String
    /// The groups, without the gateway's name.
    public var groups: [String]

    /// Somebody who has been let in.
    public init(_ name: String, groups: [String] = []) {
        self.name = name
        self.groups = groups
    }

    var json: JSONObject {
        ["gateway": "web", "user": .string(name), "groups": .array(groups.map { .string($0) })]
    }
}
