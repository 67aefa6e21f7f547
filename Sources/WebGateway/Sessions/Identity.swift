import JSON
import QuickConnect

/// For whom a page speaks: what `actFor` tells the daemon.
public struct Identity: Sendable, Hashable {
    public var name: String
    public var groups: [String]

    public init(_ name: String, groups: [String] = []) {
        self.name = name
        self.groups = groups
    }

    var json: JSONObject {
        ["gateway": "web", "user": .string(name), "groups": .array(groups.map { .string($0) })]
    }
}
