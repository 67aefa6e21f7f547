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
