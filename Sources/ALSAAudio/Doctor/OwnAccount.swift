/// Who this process runs as, as its doctor tells it. Looked up once by whoever makes the doctor, since that may block.
public struct OwnAccount: Sendable {
    public var user: String
    public var groups: [String]

    public init(user: String, groups: [String]) {
        self.user = user
        self.groups = groups
    }
}

extension OwnAccount: CustomStringConvertible {
    public var description: String { "the user \(user), in the groups \(groups.joined(separator: ", "))" }
}
