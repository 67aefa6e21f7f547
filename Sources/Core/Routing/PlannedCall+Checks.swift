internal import Calendar
internal import JSON

extension MappingTable {
    /// Checks what the schedules call. Throws the mistakes: calls that would be refused each time.
    /// - Returns: warnings of what is called and no file maps, of dates that months lack, and of rules that match nobody:
    ///   they name schedules which no file declares, groups that nearly are others, or those whom `allow` leaves out.
    public func checkPlannedCalls() throws(ConfigurationMistakes) -> [ConfigurationMistake] {
        let lines = linesOfPlannedCalls
        let mistakes = entries.compactMap { mistake(ofCallBy: $0, lines) }
        guard mistakes.isEmpty else { throw ConfigurationMistakes(mistakes.sorted()) }
        let ofEntries = entries.flatMap { [warning(ofCallBy: $0), warning(ofDatesOf: $0)].compactMap(\.self) }
        return (ofEntries + warningsOfRules + warningsOfGroups + warningsOfUnreachableRules).sorted()
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
    /// - Parameter lines: those of ``linesOfPlannedCalls``.
    private func mistake(
        ofCallBy entry: MappingEntry,
        _ lines: [ByteName: String]
    ) -> ConfigurationMistake? {
        guard let call = entry.schedule?.call, let target = self[call.command.value] else { return nil }
        let caller = PlannedCall.caller(entry.command)
        let refusal =
            lastingRefusal(of: target)
            ?? refusal(of: target, to: caller, call)?.advising(lines[ByteName(target.command)], caller)
            ?? problem(target, call) ?? postProblem(target, call, caller, lines)
        return refusal.map {
            ConfigurationMistake("the schedule '\(entry.command)': \($0.message)", at: call.command.location)
        }
    }

    /// For each entry with rules that calls of schedules need and that do not name them, the line that adds all of them, to be
    /// advised in place of a line for each; none where it would be too long.
    private var linesOfPlannedCalls: [ByteName: String] {
        var lacking: [ByteName: [[String]: (rule: AllowRule?, callers: [Caller])]] = [:]
        for entry in entries.sorted(by: { $0.command < $1.command }) {
            guard let call = entry.schedule?.call, let target = self[call.command.value] else { continue }
            let caller = PlannedCall.caller(entry.command)
            for (entry, keys, rule) in rules(neededFor: call, of: target) where !(rule?.names(caller) ?? false) {
                lacking[ByteName(entry.command), default: [:]][keys, default: (rule, [])].callers.append(caller)
            }
        }
        return lacking.reduce(into: [:]) { lines, entry in
            let rules = entry.value.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            lines[entry.key] =
                AllowRule.line(entry.key.text, rules.map { ($0.key, $0.value.rule, $0.value.callers) })
        }
    }

    /// The rules that must name who makes a call, each with its entry and where it stands there: of the command, and of the
    /// event that it posts. No rule: nobody is named.
    private func rules(
        neededFor call: PlannedCall,
        of target: MappingEntry
    ) -> [(entry: MappingEntry, keys: [String], rule: AllowRule?)] {
        var rules = target.rule.map { [(entry: target, keys: ["allow"], rule: AllowRule?.some($0))] } ?? []
        if let rule = target.setRule, call.parameters.contains(where: { $0 != .null }) {
            rules.append((target, ["set"], rule))
        } else if let first = call.parameters.first, let (verb, rule) = target.verbs.rule(for: .value(first)) {
            rules.append((target, ["verbs", verb], rule))
        }
        if target.steps.contains(where: { $0.name == "PostBCO" }),
            let event = call.parameters.first?.stringValue.flatMap({ self[$0] }), event.kind == .event
        {
            rules.append((event, ["post"], event.postRule))
        }
        return rules
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

    /// That a schedule has only dates which some months lack. With days of the week it is about what they are there for.
    private func warning(ofDatesOf entry: MappingEntry) -> ConfigurationMistake? {
        guard let rule = entry.schedule?.rule, rule.days == nil, let first = rule.dates?.min(), first > 28,
            let place = entry.location
        else { return nil }
        let says = """
            the schedule '\(entry.command)' runs in \(first == 31 ? 7 : 11) of 12 months, because \
            \(first == 31 ? "the others have" : "February has") no day \(first)\(first == 29 ? " but in leap years" : ""); dates: [28] comes each month, and [1] is the day after its end
            """
        return ConfigurationMistake(says, at: place)
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
    private func postProblem(
        _ target: MappingEntry,
        _ call: PlannedCall,
        _ caller: Caller,
        _ lines: [ByteName: String]
    ) -> CommandError? {
        guard target.steps.contains(where: { $0.name == "PostBCO" }), let name = call.parameters.first?.stringValue
        else { return nil }
        if DaemonEvents.names.contains(name) {
            return CommandError(.denied, "'\(name)' is an event of the device itself; choose another name for yours")
        }
        guard let entry = self[name], entry.kind != .stack else { return nil }
        if let refusal = Permissions(ownUID: .max).refusal(toPost: entry, caller) {
            return refusal.advising(lines[ByteName(name)], caller)
        }
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

extension CommandError {
    /// The same refusal with another line that allows it; nil: it is too long to show.
    fileprivate func advising(_ line: String?, _ caller: Caller) -> CommandError {
        let advised = AllowRule.remedy(details["allow"]?.stringValue, caller)
        guard message.hasSuffix(advised) else { return self }
        var error = self
        error.message = message.dropLast(advised.count) + AllowRule.remedy(line, caller)
        error.details["allow"] = line.map(JSONValue.string)
        return error
    }
}
