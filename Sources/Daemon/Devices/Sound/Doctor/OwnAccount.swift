/// The account of this process, for its doctor. Looked up once by the code that makes the doctor, since that may block.
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
