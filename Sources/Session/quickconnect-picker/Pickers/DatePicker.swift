import JSON
import QuickConnectClient

/// `showDate ["Date" | "DateTime" | "Time"]`: the book's date picker.
///
/// Answers the text of the book, `2027-03-14 15:09:00 +0100`, and what was asked for in ISO 8601: `2027-03-14`,
/// `2027-03-14T15:09:00+01:00` or `15:09`. A date without a time is noon of that day, which is the same day in nearly all
/// time zones and left out by no clock; a time without a date is today's.
struct DatePicker: Picker {
    let name = "showDate"

    private enum Kind: String {
        case date = "Date"
        case dateTime = "DateTime"
        case time = "Time"
    }

    func dialog(_ parameters: [JSONValue]) throws -> Dialog {
        let word = parameters.first ?? .null
        guard let kind = word == .null ? .dateTime : word.stringValue.flatMap(Kind.init) else {
            let kinds = "kind, one of \"Date\", \"DateTime\", \"Time\""
            throw HandlerCall.Failure.expected(kinds, at: "/0", got: word)
        }
        let now = LocalTime.now
        switch kind {
        case .date: return Dialog(ways: Self.dateWays(now), preset: now.date, results: Self.date)
        case .time: return Dialog(ways: Self.timeWays(now), preset: now.time, results: Self.time)
        case .dateTime:
            let preset = "\(now.date) \(now.time)"
            return Dialog(ways: Self.dateTimeWays(now), preset: preset, results: Self.dateTime)
        }
    }

    // MARK: How programs ask

    private static func dateWays(_ now: LocalTime) -> [Dialog.Way] {
        let preset = ["--day=\(now.day)", "--month=\(now.month)", "--year=\(now.year)", "--date-format=%Y-%m-%d"]
        let words = ["--calendar", "--title=Choose a date", "--text=Choose a date"] + preset
        return [Dialog.Way(program: "zenity", arguments: words), Dialog.Way(program: "yad", arguments: words)]
    }

    /// Only yad has fields for hours and minutes.
    private static func dateTimeWays(_ now: LocalTime) -> [Dialog.Way] {
        let title = "--title=Choose a date and a time"
        let calendar = ["--form", title, "--date-format=%Y-%m-%d", "--separator=|", "--field=Date:DT", now.date]
        let form = [
            "--forms", title, "--text=Choose a date and a time", "--forms-date-format=%Y-%m-%d", "--separator=|",
            "--add-calendar=Date", "--add-entry=Time, as \(now.time)",
        ]
        return [
            Dialog.Way(program: "yad", arguments: calendar + clock(now)) { output in
                let fields = output.split(separator: "|")
                return fields.count == 3 ? minute(fields[1...]).map { "\(fields[0]) \($0)" } : nil
            },
            Dialog.Way(program: "zenity", arguments: form) { $0.replacing("|", with: " ") },
        ]
    }

    private static func timeWays(_ now: LocalTime) -> [Dialog.Way] {
        let title = "--title=Choose a time"
        return [
            Dialog.Way(program: "yad", arguments: ["--form", title, "--separator=|"] + clock(now)) {
                minute($0.split(separator: "|")[...])
            },
            Dialog.Way(
                program: "zenity",
                arguments: ["--entry", title, "--text=Choose a time", "--entry-text=\(now.time)"]
            ),
        ]
    }

    private static func clock(_ now: LocalTime) -> [String] {
        ["--field=Hour:NUM", "\(now.hour)!0..23!1", "--field=Minute:NUM", "\(now.minute)!0..59!1"]
    }

    /// Two numbers, in some languages with zeros after a comma.
    private static func minute(_ fields: ArraySlice<Substring>) -> String? {
        let numbers = fields.map { $0.prefix { $0.isNumber } }
        return numbers.count == 2 ? numbers.joined(separator: ":") : nil
    }

    // MARK: What the answers mean

    private static func date(_ text: String) -> [JSONValue]? {
        read(text, needsDate: true, needsTime: false).map { [.string($0.text), .string($0.date)] }
    }

    private static func dateTime(_ text: String) -> [JSONValue]? {
        read(text, needsDate: true, needsTime: true).map { [.string($0.text), .string($0.iso8601)] }
    }

    private static func time(_ text: String) -> [JSONValue]? {
        read(text, needsDate: false, needsTime: true).map { [.string($0.text), .string($0.time)] }
    }

    /// `2027-03-14`, `15:09`, or both with a space or a `T` between; what is not needed is left out of account.
    private static func read(_ text: String, needsDate: Bool, needsTime: Bool) -> LocalTime? {
        var date: [Int]?
        var time: [Int]?
        for word in text.split(whereSeparator: { $0 == " " || $0 == "T" }) {
            if word.contains("-"), date == nil {
                date = numbers(word, separator: "-", count: 3...3)
            } else {
                time = numbers(word, separator: ":", count: 2...3)
            }
        }
        let today = LocalTime.now
        if !needsDate { date = [today.year, today.month, today.day] }
        if !needsTime { time = [12, 0] }
        guard let date, let time else { return nil }
        return LocalTime(year: date[0], month: date[1], day: date[2], hour: time[0], minute: time[1])
    }

    private static func numbers(_ word: Substring, separator: Character, count: ClosedRange<Int>) -> [Int]? {
        let numbers = word.split(separator: separator, omittingEmptySubsequences: false).map {
            $0.utf8.allSatisfy { (48...57).contains($0) } ? Int($0) : nil
        }
        return count.contains(numbers.count) && !numbers.contains(nil) ? numbers.compactMap { $0 } : nil
    }
}
