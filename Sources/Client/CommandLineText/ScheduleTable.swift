internal import Calendar
package import JSON

/// What `state` says of schedules, for people.
package enum ScheduleTable {
    /// A line for each: its name, its next and last run by local time, how that ended, and when it runs.
    /// - Parameters:
    ///   - schedules: by name, `{"next", "last", "result"}`.
    ///   - commands: the answer of `commands`.
    package static func text(_ schedules: JSONObject, _ commands: JSONObject) -> String {
        let rows = schedules.map { name, value -> [String] in
            let times = value.objectValue ?? [:]
            let declaration = commands[name]?.objectValue?["schedule"]?.objectValue ?? [:]
            return [
                name, time(times["next"]) ?? "none", time(times["last"]) ?? "-", times["result"]?.stringValue ?? "-",
                words(of: declaration),
            ]
        }
        return Table.columns([["SCHEDULE", "NEXT", "LAST", "RESULT", "RUNS"]] + rows)
    }

    /// `at 22:00, mon tue`.
    static func words(of schedule: JSONObject) -> String {
        let time =
            schedule["at"]?.stringValue.map { "at \($0)" } ?? "every \(schedule["every"]?.stringValue ?? "?")"
        let days = (schedule["days"]?.arrayValue ?? []).compactMap(\.stringValue)
        let dates = (schedule["dates"]?.arrayValue ?? []).compactMap(\.integerValue).map { "\($0)." }
        let missed = schedule["missed"]?.stringValue == "run" ? "missed ones are made up for" : ""
        return [time, days.joined(separator: " "), dates.joined(separator: " "), missed]
            .filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// `2026-11-25 22:00`, from milliseconds since 1970.
    private static func time(_ value: JSONValue?) -> String? {
        guard let milliseconds = value?.integerValue else { return nil }
        return LocalZone().moment(at: milliseconds / 1000).text
    }
}
