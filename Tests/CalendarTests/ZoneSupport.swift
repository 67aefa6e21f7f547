import Glibc
import Testing

@testable import Calendar

/// The suites that set `TZ`, which a process has once: none of their tests runs beside another.
@Suite(.serialized) struct LocalTimeTests {}

/// Runs something in a zone.
func inZone<Result>(_ name: String, _ body: (LocalZone) throws -> Result) rethrows -> Result {
    let before = getenv("TZ").map { String(cString: $0) }
    setenv("TZ", name, 1)
    defer {
        if let before { setenv("TZ", before, 1) } else { unsetenv("TZ") }
        tzset()
    }
    return try body(LocalZone())
}

/// Whether tzdata has these zones.
func hasZones(_ names: String...) -> Bool { hasZones(names) }

func hasZones(_ names: [String]) -> Bool {
    names.allSatisfy { access("/usr/share/zoneinfo/\($0)", R_OK) == 0 }
}

/// Seconds since 1970 of `2025-03-30 01:00:00`, or without the seconds, in UTC.
func utc(_ text: String) -> Int64 {
    let parts = text.split(separator: " ")
    let clock = parts.count == 2 ? parts[1].split(separator: ":").compactMap { Int($0) } : []
    guard let date = CivilDate(String(parts.first ?? "")), clock.count == 2 || clock.count == 3 else {
        Issue.record("'\(text)' is no moment")
        return 0
    }
    return Int64(date.dayNumber) * 86_400
        + Int64(clock[0] * 3600 + clock[1] * 60 + (clock.count == 3 ? clock[2] : 0))
}

/// `2025-03-30 01:00:00`, in UTC: what a failing test shows.
func text(_ seconds: Int64) -> String {
    let second = ((seconds % 86_400) + 86_400) % 86_400
    let parts = [second / 3600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
    return "\(CivilDate(dayNumber: Int((seconds - second) / 86_400))) \(parts.joined(separator: ":"))"
}

extension ScheduleRule {
    /// All runs after a moment and through another.
    func runs(after begin: Int64, through end: Int64, at place: Place? = nil) -> [Int64] {
        var (runs, last) = ([Int64](), begin)
        while let run = next(after: last, at: place), run <= end {
            runs.append(run)
            last = run
        }
        return runs
    }

    /// The same, as texts in UTC.
    func runs(after begin: String, through end: String, at place: Place? = nil) -> [String] {
        runs(after: utc(begin), through: utc(end), at: place).map { text($0) }
    }
}
