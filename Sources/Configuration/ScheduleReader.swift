import Calendar
import JSON
import QuickConnect

/// A schedule as its keys are read.
struct ScheduleDraft {
    var at: Located<ScheduleRule.Moment>?
    var every: Located<ScheduleRule.Moment>?
    var days: Set<Weekday>?
    var dates: Set<Int>?
    var runsMissed = false

    static let keys: [FileKey<ScheduleDraft>] = [
        FileKey("at", \.at) { $0.moment($1, $2) },
        FileKey("every", \.every) { $0.interval($1, $2) },
        FileKey("days", \.days) { $0.weekdays($1, $2) },
        FileKey("dates", \.dates) { $0.dates($1, $2) },
        FileKey("missed", \.runsMissed) { $0.missed($1, $2) },
    ]
}

extension YAMLFile {
    /// `{at: "22:00", days: [mon, fri]}` or `{every: 15m}`.
    mutating func schedule(_ node: YAMLNode) -> ScheduleDeclaration? {
        var draft = ScheduleDraft()
        let names = read(node, of: "a schedule", ScheduleDraft.keys, into: &draft, section: "schedule")
        guard names.contains("at") != names.contains("every") else {
            let what = names.contains("at") ? "has 'at' and 'every'; one of them says when" : "needs 'at' or 'every'"
            mistake("a schedule \(what), such as {at: \"22:00\"} or {every: 15m}", at: node)
            return nil
        }
        guard let moment = draft.at ?? draft.every else { return nil }
        let rule = ScheduleRule(moment.value, days: draft.days, dates: draft.dates)
        return ScheduleDeclaration(rule, runsMissed: draft.runsMissed)
    }

    /// `[command, parameter, …]`.
    mutating func plannedCall(_ node: YAMLNode) -> PlannedCall? {
        guard let sequence = node.sequence, let first = sequence.first, let name = first.text, !first.isNull,
            !name.isEmpty
        else {
            mistake("'call' must be a list of a command and its parameters, such as [playSound, chime]", got: node)
            return nil
        }
        let parameters = sequence.dropFirst().compactMap { json($0, "a parameter of 'call'") }
        return PlannedCall(Located(name, at: location(first)), parameters)
    }

    /// `22:00`, `22:00:30`, `sunrise`, `sunset-1h30m`.
    mutating func moment(_ node: YAMLNode, _ what: String) -> Located<ScheduleRule.Moment>? {
        guard let text = node.text, !node.isNull else {
            mistake("\(what) must be a time such as \"22:00\", sunrise or sunset-30m", got: node)
            return nil
        }
        do throws(ScheduleTextError) {
            return Located(try ScheduleRule.Moment(at: text), at: location(node))
        } catch {
            mistake("\(what): \(error)", at: node)
            return nil
        }
    }

    fileprivate mutating func interval(_ node: YAMLNode, _ what: String) -> Located<ScheduleRule.Moment>? {
        guard let duration = duration(node, what) else { return nil }
        guard duration.components.attoseconds == 0, let seconds = Int(exactly: duration.components.seconds) else {
            mistake("\(what) must be whole seconds, such as 10s or 15m", got: node)
            return nil
        }
        do throws(ScheduleTextError) {
            return Located(try ScheduleRule.Moment(every: seconds), at: location(node))
        } catch {
            mistake("\(what): \(error)", at: node)
            return nil
        }
    }

    /// `[mon, fri]`.
    mutating func weekdays(_ node: YAMLNode, _ what: String) -> Set<Weekday>? {
        let known = Weekday.allCases.map(\.rawValue)
        let days = words(node, what).compactMap { word -> Weekday? in
            if let day = Weekday(rawValue: word.value) { return day }
            let question = NearestNames.question(word.value, among: known)
            mistake(
                "no day '\(word.value)'\(question); the days are \(known.joined(separator: ", "))",
                at: word.location
            )
            return nil
        }
        return notEmpty(Set(days), node, what, "[mon, tue]")
    }

    fileprivate mutating func dates(_ node: YAMLNode, _ what: String) -> Set<Int>? {
        guard let sequence = node.sequence else {
            mistake("\(what) must be a list of days of the month, such as [1, 15]", got: node)
            return nil
        }
        let dates = sequence.compactMap { integer($0, "a date of the month", in: 1...31) }
        return notEmpty(Set(dates), node, what, "[1, 15]")
    }

    /// An empty list would be a schedule that never runs.
    private mutating func notEmpty<Member>(
        _ set: Set<Member>,
        _ node: YAMLNode,
        _ what: String,
        _ example: String
    ) -> Set<Member>? {
        if node.sequence?.isEmpty ?? false {
            mistake("\(what) must not be empty: without the key it is each day, else write \(example)", at: node)
        }
        return set.isEmpty ? nil : set
    }

    fileprivate mutating func missed(_ node: YAMLNode, _ what: String) -> Bool? {
        let text = string(node, what)
        if let text, ["run", "skip"].contains(text) { return text == "run" }
        if let text {
            let question = NearestNames.question(text, among: ["run", "skip"])
            mistake("\(what) is run or skip\(question); got '\(text)'", at: node)
        }
        return nil
    }
}
