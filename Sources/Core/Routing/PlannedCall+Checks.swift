internal import JSON

extension MappingTable {
    /// Checks what the schedules call. Throws the mistakes: calls that would be refused each time.
    /// - Returns: warnings of what is called and no file maps, and of rules that match nobody: they name schedules
    ///   which no file declares, or those whom `allow` leaves out.
    public func checkPlannedCalls() throws(ConfigurationMistakes) -> [ConfigurationMistake] {
        let mistakes = entries.compactMap { mistake(ofCallBy: $0) }
        guard mistakes.isEmpty else { throw ConfigurationMistakes(mistakes.sorted()) }
        return (entries.compactMap { warning(ofCallBy: $0) } + warningsOfRules + warningsOfUnreachableRules).sorted()
    }

    /// The schedules that rules name, and that would match nobody.
    private var warningsOfRules: [ConfigurationMistake] {
        let schedules = entries.filter { $0.kind == .schedule }.map(\.command)
        // The rule of `default` is that of many entries.
        let rules = Set(entries.flatMap(\.rules))
        return rules.flatMap { rule in
            let named = rule.userNames.compactMap(PlannedCall.schedule(ofCaller:))
            let unknown = named.filter { self[$0]?.kind != .schedule }
            return unknown.map { name in
                let near = NearestNames.question(name, among: schedules)
                let says = "no file declares the schedule '\(name)' of this rule\(near)"
                return ConfigurationMistake(says, at: rule.location)
            }
        }
    }

    /// Why the call of a schedule would be refused each time; nil if it would not be.
    private func mistake(ofCallBy entry: MappingEntry) -> ConfigurationMistake? {
        guard let call = entry.schedule?.call, let target = self[call.command.value] else { return nil }
        let caller = PlannedCall.caller(entry.command)
        let refusal =
            lastingRefusal(of: target) ?? refusal(of: target, to: caller, call) ?? problem(target, call)
            ?? postProblem(target, call, caller)
        return refusal.map {
            ConfigurationMistake("the schedule '\(entry.command)': \($0.message)", at: call.command.location)
        }
    }

    /// That a schedule calls what no file maps: a handler that a client registers, or a typo.
    private func warning(ofCallBy entry: MappingEntry) -> ConfigurationMistake? {
        guard let command = entry.schedule?.call?.command, self[command.value] == nil else { return nil }
        let near = nearest(command.value).map { "'\($0)'" }.joined(separator: " or ")
        return ConfigurationMistake(
            """
            no file maps '\(command.value)'\(near.isEmpty ? "" : ", did you mean \(near)?"); the schedule \
            '\(entry.command)' reaches it only while a client has registered a handler of that name
            """,
            at: command.location
        )
    }

    private func refusal(of target: MappingEntry, to caller: Caller, _ call: PlannedCall) -> CommandError? {
        // No process is root here: a schedule has no right but those that rules give it.
        let permissions = Permissions(ownUID: .max)
        if let refusal = permissions.refusal(by: target, caller) { return refusal }
        if let rule = target.setRule, call.parameters.contains(where: { $0 != .null }) {
            return permissions.refusalToSet(target, rule, caller)
        }
        guard let first = call.parameters.first, first != .null else { return nil }
        guard let (verb, rule) = target.verbs.rule(for: .value(first)) else { return nil }
        return permissions.refusal(of: verb, rule, target, caller)
    }

    /// The command objects whose work lasts as long as the connection of their call.
    private static let lasting: Set = [
        "ActForBCO", "CancelBCO", "RegisterHandlerBCO", "RemoveHandlerBCO", "SubscribeBCO", "UnsubscribeBCO",
    ]

    private func lastingRefusal(of target: MappingEntry) -> CommandError? {
        guard target.steps.contains(where: { Self.lasting.contains($0.name) }) else { return nil }
        return CommandError(.unsupported, "'\(target.command)' is for a connection that lasts, which its call has not")
    }

    /// Why the event that a call of `post` names would be refused.
    private func postProblem(_ target: MappingEntry, _ call: PlannedCall, _ caller: Caller) -> CommandError? {
        guard target.steps.contains(where: { $0.name == "PostBCO" }), let name = call.parameters.first?.stringValue
        else { return nil }
        if DaemonEvents.names.contains(name) {
            return CommandError(.denied, "'\(name)' is an event of the device itself; choose another name for yours")
        }
        guard let entry = self[name], entry.kind != .stack else { return nil }
        if let refusal = Permissions(ownUID: .max).refusal(toPost: entry, caller) { return refusal }
        let data = call.parameters.count > 1 ? call.parameters[1] : .null
        guard let event = entry.event, event.parameter.accept(data) == nil else { return nil }
        return event.parameter.refusal(of: data, at: "/1")
    }

    private func problem(_ target: MappingEntry, _ call: PlannedCall) -> CommandError? {
        guard let parameters = target.parameters else { return nil }
        let line: JSONValue = ["handlerName": .string(target.command), "data": .array(call.parameters)]
        var reader = MessageReader()
        let bytes = Array(line.text.utf8)
        return bytes.withUnsafeBufferPointer { bytes in
            guard case .message(.call(let request)) = reader.read(bytes) else { return nil }
            do throws(CommandError) {
                _ = try parameters.check(request)
                return nil
            } catch {
                return CommandError(error.code, "the parameters of '\(target.command)' do not fit: \(error.message)")
            }
        }
    }
}
