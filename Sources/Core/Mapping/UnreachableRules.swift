internal import JSON

extension MappingTable {
    /// Warnings of rules of `set` and `verbs` whose users and groups `allow` all leaves out: they may set, and not call.
    var warningsOfUnreachableRules: [ConfigurationMistake] {
        entries.flatMap { entry -> [ConfigurationMistake] in
            guard let allow = entry.rule else { return [] }
            let set = entry.setRule.map { [(verb: "set", rule: $0)] } ?? []
            let left = (set + entry.verbs.all).filter { allow.leavesOut($0.rule) }
            guard !left.isEmpty else { return [] }
            // One line for all of them: two of one entry are refused in one file.
            let remedy = allow.remedy(naming: left.map(\.rule), too: entry.command)
            return left.map { verb, rule in
                let says =
                    "'\(entry.command)': \(rule.words) may '\(verb)' it, and not call it, which is allowed to "
                    + "\(allow.words) (\(allow.location)); "
                return ConfigurationMistake(says + remedy, at: rule.location)
            }
        }
    }

    /// The group of the web that «quickconnect setup home» and the documentation use.
    private static let home = "web:home"

    /// Warnings of groups of gateways whose names are nearly that of the home, or that one rule names where several name a
    /// near one. A gateway's groups are those that its users are given, so the files alone do not say which there are.
    var warningsOfGroups: [ConfigurationMistake] {
        var places: [ByteName: [SourceLocation]] = [:]
        // The rule of `default` is that of many entries.
        for rule in Set(entries.flatMap(\.rules)) {
            for name in Set(rule.groupNames.map { ByteName($0) }) { places[name, default: []].append(rule.location) }
        }
        // Each search takes time, and there may be thousands.
        let common = places.filter { $0.value.count > 1 }.map(\.key.text).sorted().prefix(50)
        return places.sorted { $0.key.text < $1.key.text }.prefix(500).compactMap { name, rules in
            guard let (gateway, group) = GatewayName.parts(name.text), name.text != Self.home,
                let location = rules.min()
            else { return nil }
            let others = Set([Self.home] + (rules.count == 1 ? common : [])).compactMap(GatewayName.parts)
            // «floor1» and «floor2» are two.
            let letters = { (text: String) in text.filter { !$0.isNumber } }
            let groups = others.filter { $0.gateway == gateway && letters($0.name) != letters(group) }.map(\.name)
            let near = NearestNames.question(group, among: groups)
            let says = "the gateway '\(gateway)' may have no group '\(group)'\(near)"
            return near.isEmpty ? nil : ConfigurationMistake(says, at: location)
        }
    }
}

extension SocketRule {
    /// `denied` if no user of its gateway can call the entry, with the line that would let one.
    package func refusal(of entry: MappingEntry) -> CommandError? {
        guard let gateway else { return nil }
        return refusal(of: entry.command, entry, line: AllowRule.line(listingFor: gateway.name, by: entry.rule))
    }

    /// `denied` if the command is not on the list, with what mends it: for an entry of the owner's its rule, for others the list.
    /// - Parameters:
    ///   - entry: what the command is; nil: nothing is mapped, and no handler is registered.
    ///   - line: what its owner would write. A caller who is refused gets none: it has the names of others.
    func refusal(of command: String, _ entry: MappingEntry?, line: @autoclosure () -> String? = nil) -> CommandError? {
        guard !lists(command, for: entry?.gateways), gateway == nil || command != Self.actFor else { return nil }
        let command = command.shortened
        guard let gateway = gateway.map({ ByteName($0.name) }), let place = entry?.place(toList: gateway) else {
            return refusal(of: command)
        }
        let line = line()
        let what = line.map { "the line «\($0)»" } ?? "a rule that names users of \(gateway.text)"
        let remedy =
            "\(what) in the entry at \(place) would allow it, once «quickconnect call reload» has read it"
        return denied(command, remedy, place, line)
    }
}

extension AllowRule {
    /// Whether nobody whom another rule names can be known to be named here. A user may be in a group, of its own gateway
    /// or of the device; root, services and schedules have rights that are told elsewhere.
    fileprivate func leavesOut(_ other: AllowRule) -> Bool {
        let others = other.userNames + other.groupNames
        let known = ServiceUsers.names.union(["root", ServiceUsers.group])
        guard !others.isEmpty, !other.users.contains(0), known.isDisjoint(with: other.userNames),
            !other.userNames.contains(where: { PlannedCall.schedule(ofCaller: $0) != nil }),
            Set(userNames).isDisjoint(with: other.userNames), Set(groupNames).isDisjoint(with: other.groupNames)
        else { return false }
        func places(_ names: [String]) -> Set<String> { Set(names.map { GatewayName.parts($0)?.gateway ?? "" }) }
        return places(groupNames).isDisjoint(with: places(other.userNames))
            && places(userNames).isDisjoint(with: places(other.groupNames))
    }
}
