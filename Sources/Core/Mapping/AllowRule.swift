package import JSON

/// Who may do something: the users and groups that a rule of a mapping names. Names of the device are resolved to ids;
/// those of gateways (`web:ann`) stay names.
public struct AllowRule: Sendable, Hashable {
    /// The names as written, including those that this device does not know.
    public let userNames: [String]
    /// The group names as written.
    public let groupNames: [String]
    /// The ids of its users; a name that the device does not know has no id here.
    public let users: Set<UInt32>
    /// The ids of its groups; a name that the device does not know has no id here.
    public let groups: Set<UInt32>
    private let gatewayUsers: Set<ByteName>
    private let gatewayGroups: Set<ByteName>
    /// Where it is written.
    public let location: SourceLocation

    /// A rule as written, with the ids of its names on this device.
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
        gatewayUsers = Self.gatewayNames(userNames)
        gatewayGroups = Self.gatewayNames(groupNames)
        self.location = location
    }

    /// Whether the rule names the caller. Privileged callers (``Caller/isPrivileged(ownUID:)``) need no rule.
    public func names(_ caller: Caller) -> Bool {
        switch caller.origin {
        case .peer(let uid, _, let callerGroups): users.contains(uid) || !groups.isDisjoint(with: callerGroups)
        case .gateway(let gateway, let user, let groups):
            gatewayUsers.contains(ByteName(GatewayName.of(user, through: gateway)))
                || groups.contains { gatewayGroups.contains(ByteName(GatewayName.of($0, through: gateway))) }
        case .daemon: false
        }
    }

    /// The gateways whose users or groups the rule names. Schedules come through none.
    package var gateways: Set<ByteName> { GatewayName.gateways(of: userNames + groupNames) }

    private static func gatewayNames(_ names: [String]) -> Set<ByteName> {
        Set(names.filter(GatewayName.isOne).map { ByteName($0) })
    }

    /// `lamp: {allow: {users: [alice, NAME], groups: [audio]}}`: the rule with one more user, as YAML, to show how to
    /// allow the caller. Nil if it names too many to show.
    /// - Parameter keys: where in a file the rule stands.
    static func line(_ keys: String..., adding caller: Caller, to rule: AllowRule?) -> String? {
        line(keys, users: (rule?.userNames ?? []) + [name(of: caller)], groups: rule?.groupNames ?? [])
    }

    /// `allow: {users: ["web:NAME"], groups: [quickconnect]}`: the rule with which an entry is on the list of a gateway, as
    /// YAML. Where there was none, those of the device stay.
    static func line(listingFor gateway: String, by rule: AllowRule?) -> String? {
        let user = "\(gateway):NAME"
        guard let rule else { return line(["allow"], users: [user], groups: [ServiceUsers.group]) }
        let isNamed = rule.gateways.contains(ByteName(gateway))
        return line(["allow"], users: rule.userNames + (isNamed ? [] : [user]), groups: rule.groupNames)
    }

    /// The end of a sentence: how to let those of other rules call the command, too.
    func remedy(naming others: [AllowRule], too command: String) -> String {
        let users = userNames + Set(others.flatMap(\.userNames)).sorted()
        let groups = groupNames + Set(others.flatMap(\.groupNames)).sorted()
        guard let line = Self.line([command, "allow"], users: users, groups: groups) else {
            return "name them there, too"
        }
        return "the line «\(line)» in a file of the mappings folder would allow it"
    }

    /// One line with more users of several rules of an entry: two lines of one entry are refused in one file. Nil if they
    /// are too many to show.
    /// - Parameter rules: where in the entry each stands (`allow`, or `verbs` and the verb), and whom to add.
    static func line(
        _ command: String,
        _ rules: [(keys: [String], rule: AllowRule?, callers: [Caller])]
    ) -> String? {
        let parts = rules.map { keys, rule, callers in
            let users = (rule?.userNames ?? []) + callers.map(name)
            return line(keys, users: users, groups: rule?.groupNames ?? []).map { (section: keys[0], text: $0) }
        }
        guard !parts.contains(where: { $0 == nil }) else { return nil }
        let sections = Dictionary(grouping: parts.compactMap { $0 }, by: \.section).sorted { $0.key < $1.key }
        let texts = sections.map { section, parts in
            guard parts.count > 1 else { return parts[0].text }
            // «verbs: {open: …}» and «verbs: {shut: …}» are one section.
            let inner = parts.map { $0.text.dropFirst("\(section): {".count).dropLast() }
            return "\(section): {\(inner.joined(separator: ", "))}"
        }
        return "\(NameList.quoted(command.shortened)): {\(texts.joined(separator: ", "))}"
    }

    private static func line(_ keys: [String], users: [String], groups: [String]) -> String? {
        guard let users = NameList.whole(users, bytes: bytes), let groups = NameList.whole(groups, bytes: bytes) else {
            return nil
        }
        let lists = [("users", users), ("groups", groups)].filter { !$0.1.isEmpty }.map { "\($0): [\($1)]" }
        let names = "{\(lists.joined(separator: ", "))}"
        let entry = keys.reversed().reduce(names) { "{\(NameList.quoted($1.shortened)): \($0)}" }
        return String(entry.dropFirst().dropLast())
    }

    /// What the sentence about a rule ends with: how to allow the caller.
    static func remedy(_ line: String?, _ caller: Caller) -> String {
        guard let line else {
            return "with \(NameList.quoted(name(of: caller))) among the users there it would be allowed"
        }
        return "the line «\(line)» in a file of the mappings folder would allow it"
    }

    /// The begin of a sentence where a group of a gateway's caller is nearly one that the rule names; else an empty text.
    func slip(of caller: Caller) -> String {
        guard case .gateway(let gateway, _, let groups) = caller.origin else { return "" }
        let named = groupNames.compactMap(GatewayName.parts).filter { ByteName($0.gateway) == ByteName(gateway) }
        for group in groups.sorted() {
            guard let near = NearestNames.find(group, among: named.map(\.name)).first else { continue }
            return "the user is in the group '\(group.shortened)', and the rule names '\(near.shortened)'; "
        }
        return ""
    }

    /// A local user's is not known here.
    private static func name(of caller: Caller) -> String { caller.uid == nil ? caller.ruleName ?? "NAME" : "NAME" }

    /// An error contains the users and groups twice in words and twice as YAML, so each list is short.
    private static let bytes = 120
    private static func list(_ names: [String]) -> String { NameList.text(names, bytes: bytes) }

    /// The rule in words: `users alice, bob; group audio`.
    public var words: String {
        func list(_ noun: String, _ names: [String]) -> String? {
            names.isEmpty ? nil : "\(noun)\(names.count > 1 ? "s" : "") \(Self.list(names))"
        }
        let parts = [list("user", userNames), list("group", groupNames)].compactMap { $0 }
        return parts.isEmpty ? "root only" : parts.joined(separator: "; ")
    }
}

extension AllowRule {
    /// Resolves the names. An unknown name matches nobody and causes a warning, unless it is one that only a package makes,
    /// which is not installed; names of gateways are never looked up.
    /// - Parameter gateways: those that may be meant where the device has no such name.
    public static func resolve(
        _ allow: MappingDeclaration.Allow,
        _ accounts: any Accounts,
        gateways: [String] = []
    ) -> (rule: AllowRule, warnings: [ConfigurationMistake]) {
        var warnings: [ConfigurationMistake] = []
        func ids(
            _ names: [Located<String>],
            _ noun: String,
            ofPackages known: Set<String>,
            _ id: (String) -> UInt32?
        ) -> Set<UInt32> {
            Set(
                names.filter { !GatewayName.isOne($0.value) }.compactMap { name in
                    if let id = id(name.value) { return id }
                    if known.contains(name.value) { return nil }
                    // Callers over a broker are in no group.
                    let meant = gateways.filter { noun == "user" || ServiceUsers.publishers[$0] == nil }
                    let others = meant.map { "a \(noun) of the gateway \($0) is \"\($0):\(name.value)\"" }
                    let says = ["no \(noun) '\(name.value)' on this device"] + others
                    warnings.append(ConfigurationMistake(says.joined(separator: "; "), at: name.location))
                    return nil
                }
            )
        }
        let rule = AllowRule(
            userNames: allow.users.map(\.value),
            groupNames: allow.groups.map(\.value),
            users: ids(allow.users, "user", ofPackages: ServiceUsers.names, accounts.uid(ofUser:)),
            groups: ids(allow.groups, "group", ofPackages: [ServiceUsers.group], accounts.gid(ofGroup:)),
            location: allow.location
        )
        return (rule, warnings)
    }
}

/// The rules in an entry's `verbs`: who may call it with a given text as its first parameter.
public struct VerbRules: Sendable {
    /// The verb that `can` uses for setting a value.
    public static let setting = "set"
    /// The same for posting an event.
    package static let posting = "post"

    private let rules: [ByteName: AllowRule]
    /// A string with more bytes cannot be one of the verbs, however it is escaped.
    private let maxBytes: Int

    init(_ rules: [ByteName: AllowRule] = [:]) {
        self.rules = rules
        // A byte takes six bytes as an escape.
        maxBytes = 6 * (rules.keys.map(\.text.utf8.count).max() ?? 0) + 2
    }

    /// Whether there is no rule.
    public var isEmpty: Bool { rules.isEmpty }

    /// The verbs that have a rule, in order.
    public var all: [(verb: String, rule: AllowRule)] {
        rules.map { (verb: $0.key.text, rule: $0.value) }.sorted { $0.verb < $1.verb }
    }

    /// The rule of a verb; nil if it has none of its own.
    public subscript(verb: String) -> AllowRule? { rules[ByteName(verb)] }

    /// The rule that applies to a call, with its verb; nil if none does.
    func rule(for call: borrowing Call) -> (verb: String, rule: AllowRule)? { rule(for: call.argument(0)) }

    /// The rule that applies to calls with that first parameter, with its verb; nil if none does.
    func rule(for parameter: Message) -> (verb: String, rule: AllowRule)? {
        guard let verb = Self.verb(parameter, maxBytes: maxBytes), let rule = self[verb] else { return nil }
        return (verb, rule)
    }

    /// A parameter as YAML writes it: a string, a whole number, or a truth value.
    private static func verb(_ parameter: Message, maxBytes: Int) -> String? {
        if case .text(let text) = parameter {
            switch text.kind {
            case .string: if text.count > maxBytes { return nil }
            // Of any length: a whole number may have any number of zeros after its decimal point.
            case .number, .boolean: break
            case .null, .array, .object: return nil
            }
        }
        let value = parameter.value
        if let text = value.stringValue { return text }
        if let number = value.integerValue { return "\(number)" }
        return value.boolValue.map { "\($0)" }
    }
}

extension GatewayName {
    /// The gateways of those names that have one. Schedules come through none.
    static func gateways(of names: [String]) -> Set<ByteName> {
        Set(names.compactMap { parts($0).map { ByteName($0.gateway) } }).subtracting([ByteName(PlannedCall.gateway)])
    }
}
