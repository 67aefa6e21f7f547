/// Who may run a command: the users and groups that an `allow` names, resolved to their ids.
public struct AllowRule: Sendable, Hashable {
    /// The names as written, also those that this device does not know.
    public var userNames: [String]
    public var groupNames: [String]
    public var users: Set<UInt32>
    public var groups: Set<UInt32>
    /// Where it is written.
    public var location: SourceLocation

    public init(
        userNames: [String],
        groupNames: [String],
        users: Set<UInt32>,
        groups: Set<UInt32>,
        location: SourceLocation
    ) {
        self.userNames = userNames
        self.groupNames = groupNames
        self.users = users
        self.groups = groups
        self.location = location
    }

    /// Whether the rule names the caller. Privileged callers (``Caller/isPrivileged(ownUID:)``) need no rule.
    public func names(_ caller: Caller) -> Bool {
        guard case .peer(let uid, _, let callerGroups) = caller.origin else { return false }
        return users.contains(uid) || !groups.isDisjoint(with: callerGroups)
    }

    /// The rule in words: `users alice, bob; group audio`.
    public var words: String {
        func list(_ noun: String, _ names: [String]) -> String? {
            names.isEmpty ? nil : "\(noun)\(names.count > 1 ? "s" : "") \(names.joined(separator: ", "))"
        }
        let parts = [list("user", userNames), list("group", groupNames)].compactMap { $0 }
        return parts.isEmpty ? "root only" : parts.joined(separator: "; ")
    }
}

extension AllowRule {
    /// Resolves the names. An unknown one matches nobody, and is a warning.
    public static func resolve(
        _ allow: MappingDeclaration.Allow,
        _ accounts: any Accounts
    ) -> (rule: AllowRule, warnings: [ConfigurationMistake]) {
        var warnings: [ConfigurationMistake] = []
        func ids(_ names: [Located<String>], _ noun: String, _ id: (String) -> UInt32?) -> Set<UInt32> {
            Set(
                names.compactMap { name in
                    if let id = id(name.value) { return id }
                    warnings.append(
                        ConfigurationMistake("no \(noun) '\(name.value)' on this device", at: name.location)
                    )
                    return nil
                }
            )
        }
        let rule = AllowRule(
            userNames: allow.users.map(\.value),
            groupNames: allow.groups.map(\.value),
            users: ids(allow.users, "user", accounts.uid(ofUser:)),
            groups: ids(allow.groups, "group", accounts.gid(ofGroup:)),
            location: allow.location
        )
        return (rule, warnings)
    }
}
