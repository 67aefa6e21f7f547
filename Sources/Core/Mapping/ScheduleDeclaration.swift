package import Calendar
package import JSON

/// When something happens, as a mapping declares it.
package struct ScheduleDeclaration: Sendable, Hashable {
    /// The times.
    package var rule: ScheduleRule
    /// Whether the last run that the device was off or asleep for is made up for; otherwise it is left out.
    package var runsMissed: Bool
    /// What is called at each run; nil: nothing, it only sends its event.
    package var call: PlannedCall?

    package init(_ rule: ScheduleRule, runsMissed: Bool = false) {
        self.rule = rule
        self.runsMissed = runsMissed
    }

    /// What its command returns.
    var result: Parameter {
        func member(_ name: String, _ kind: Parameter.Kind, _ help: String) -> Parameter.Member {
            var member = Parameter(name, kind)
            member.isOptional = true
            member.help = help
            return Parameter.Member(member)
        }
        var result = Parameter("result", .object)
        result.members = [
            member("next", .integer, "when it runs next, in ms since 1970; null: never, or nobody knows"),
            member("last", .integer, "when it ran last, in ms since 1970; null: never"),
            member("result", .string, "ok, or the code of the error of its call; null before the first run"),
        ]
        return result
    }

    /// The times as the file writes them, in a few words: `at 22:00, mon tue`, `every 15m`.
    package var words: String {
        let time = if case .every = rule.moment { "every \(rule.moment)" } else { "at \(rule.moment)" }
        let days = Weekday.allCases.filter { rule.days?.contains($0) ?? false }.map(\.rawValue)
        let dates = (rule.dates ?? []).sorted().map { "\($0)." }
        return [time, days.joined(separator: " "), dates.joined(separator: " ")]
            .filter { !$0.isEmpty }.joined(separator: ", ")
    }
}

extension MappingDeclaration {
    /// The parameters of what is no stack; nil: those that it declares.
    var kindParameters: ParameterList? {
        switch kind {
        case .stack: return nil
        case .value: return value.map { ParameterList($0.commandParameters) }
        case .event: return ParameterList([])
        case .schedule:
            var verb = Parameter("run", .string)
            verb.isOptional = true
            verb.oneOf = [.string(PlannedCall.run)]
            verb.help = "runs it now"
            return ParameterList([verb])
        }
    }

    /// The schedule with its call.
    var plan: ScheduleDeclaration? {
        guard var plan = schedule else { return nil }
        plan.call = call
        return plan
    }
}

/// The call that a schedule makes, as the caller `schedule:NAME`.
package struct PlannedCall: Sendable, Hashable {
    /// The command, and where it is written.
    package var command: Located<String>
    /// Its parameters.
    package var parameters: [JSONValue]

    package init(_ command: Located<String>, _ parameters: [JSONValue]) {
        self.command = command
        self.parameters = parameters
    }

    /// What runs a schedule now, as its parameter.
    package static let run = "run"

    /// The gateway in the names of schedules as callers: `schedule:night`. No socket can have it.
    package static let gateway = "schedule"

    /// The schedule that is a caller with that name: `night` of `schedule:night`; nil: it is none.
    package static func schedule(ofCaller name: String) -> String? {
        GatewayName.parts(name).flatMap { $0.gateway == gateway ? $0.name : nil }
    }

    /// A schedule as a caller.
    package static func caller(_ schedule: String) -> Caller {
        Caller(.gateway(name: gateway, user: schedule))
    }
}
