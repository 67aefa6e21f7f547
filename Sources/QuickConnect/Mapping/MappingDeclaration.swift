/// What one file says of one command, before the files are merged.
public struct MappingDeclaration: Sendable {
    public struct Allow: Sendable {
        public var users: [Located<String>] = []
        public var groups: [Located<String>] = []
        public var location: SourceLocation

        public init(users: [Located<String>] = [], groups: [Located<String>] = [], location: SourceLocation) {
            self.users = users
            self.groups = groups
            self.location = location
        }
    }

    public var command: Located<String>
    public var help: String?
    public var parameters: ParameterList?
    /// The command objects' names of each phase.
    public var phases: [Phase: [Located<String>]] = [:]
    public var timeout: Duration?
    public var allow: Allow?
    /// Whether it starts the entry anew.
    public var replaces = false
    /// Whether it takes the entry out.
    public var removes = false

    public init(_ command: Located<String>) { self.command = command }

    /// The entry whose command objects run before every command's own.
    public static let defaultName = "default"
    /// Names that no command can have: `default` is the entry for all, `error` the command of error replies.
    public static let reservedNames = [defaultName, CommandError.replyCommand]

    /// Adds what a later file says: phases append, every other key is replaced.
    mutating func add(_ later: MappingDeclaration) {
        for (phase, names) in later.phases { phases[phase, default: []] += names }
        help = later.help ?? help
        parameters = later.parameters ?? parameters
        timeout = later.timeout ?? timeout
        allow = later.allow ?? allow
    }
}
