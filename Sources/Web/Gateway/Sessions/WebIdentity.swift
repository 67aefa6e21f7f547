import JSON
import QuickConnect

/// The user of a page: what `actFor` tells the daemon.
public struct WebIdentity: Sendable, Hashable {
    /// The name, without the gateway's prefix.
    public var name: String
    /// The groups, without the gateway's prefix.
    public var groups: [String]

    /// An authenticated user.
    public init(_ name: String, groups: [String] = []) {
        self.name = name
        self.groups = groups
    }

    var json: JSONObject {
        ["gateway": "web", "user": .string(name), "groups": .array(groups.map { .string($0) })]
    }
}
