/// What is wrong with the text of a schedule: one sentence, with what would be right.
package struct ScheduleTextError: Error, Equatable, CustomStringConvertible {
    package let description: String
}

extension ScheduleRule.Moment: CustomStringConvertible {
    /// Reads the text of `at`: `22:00`, `22:00:30`, `sunrise`, `sunset-1h30m`.
    /// - Throws: if it is none of these, or further than 12 hours from sunrise or sunset.
    package init(at text: String) throws(ScheduleTextError) {
        for event in ScheduleRule.SunEvent.allCases where text.hasPrefix(event.rawValue) {
            let rest = text.dropFirst(event.rawValue.count)
            self = .sun(event, offset: rest.isEmpty ? 0 : try Self.offset(rest, of: event, in: text))
            return
        }
        guard let second = Self.secondOfDay(text) else { throw Self.noTime(text) }
        self = .at(second)
    }

    /// Checks an interval.
    /// - Throws: if it is shorter than 10 s, or no number of them fills a day of 24 hours.
    package init(every seconds: Int) throws(ScheduleTextError) {
        guard seconds >= Self.shortestInterval else {
            throw ScheduleTextError(
                description: "each \(Self.duration(seconds)) is too often; write at least \(Self.shortestInterval)s"
            )
        }
        guard !Self.secondsOfDay.isMultiple(of: seconds) else {
            self = .every(seconds)
            return
        }
        throw ScheduleTextError(
            description: "\(Self.duration(seconds)) does not divide a day; write \(Self.dividers(near: seconds))"
        )
    }

    /// As settings have it: `22:00`, `sunset-1h30m`, `15m`.
    package var description: String {
        switch self {
        case .at(let second):
            let parts = [second / 3600, second / 60 % 60] + (second % 60 == 0 ? [] : [second % 60])
            return parts.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
        case .sun(let event, 0): return event.rawValue
        case .sun(let event, let offset):
            return "\(event)\(offset < 0 ? "-" : "+")\(Self.duration(Int(clamping: offset.magnitude)))"
        case .every(let seconds): return Self.duration(seconds)
        }
    }

    // MARK: The parts of texts

    private static func noTime(_ text: String) -> ScheduleTextError {
        ScheduleTextError(description: "'\(text)' is no time; write 22:00, 22:00:30, sunrise, sunset-1h30m")
    }

    /// `22:00`, `7:30` or `22:00:30`; nil if it is none.
    private static func secondOfDay(_ text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, (1...2).contains(parts[0].utf8.count),
            parts.dropFirst().allSatisfy({ $0.utf8.count == 2 })
        else { return nil }
        let numbers = parts.compactMap { number($0) }
        guard numbers.count == parts.count, numbers[0] < 24, numbers.dropFirst().allSatisfy({ $0 < 60 }) else {
            return nil
        }
        return numbers[0] * 3600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0)
    }

    /// `+10m` or `-1h30m`, in seconds.
    private static func offset(
        _ rest: Substring,
        of event: ScheduleRule.SunEvent,
        in text: String
    ) throws(ScheduleTextError) -> Int {
        guard let sign = rest.first, sign == "+" || sign == "-" else { throw noTime(text) }
        var (seconds, digits, units) = (0, Substring(), Set<Character>())
        for character in rest.dropFirst() {
            if character.isASCII, character.isWholeNumber {
                digits.append(character)
                continue
            }
            guard let unit = ["h": 3600, "m": 60, "s": 1][character], let count = number(digits),
                units.insert(character).inserted
            else { throw noTime(text) }
            // Longer numbers are too far in every unit.
            seconds += digits.utf8.count > 6 ? farthestFromSun + 1 : count * unit
            digits = ""
        }
        guard digits.isEmpty else {
            throw ScheduleTextError(
                description: "'\(text)' has a number without a unit; write h, m or s behind it, as in sunset-1h30m"
            )
        }
        guard !units.isEmpty else { throw noTime(text) }
        guard seconds <= farthestFromSun else {
            throw ScheduleTextError(
                description: "'\(text)' is too far from \(event); write \(event)\(sign)12h or less"
            )
        }
        return sign == "-" ? -seconds : seconds
    }

    /// A number of ASCII digits, as large as it is written or, beyond what fits, some large one; nil for anything else.
    private static func number(_ digits: Substring) -> Int? {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(digits) ?? .max
    }

    /// `1h30m`, `10s`.
    private static func duration(_ seconds: Int) -> String {
        let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")]
        let text = parts.filter { $0.0 != 0 }.map { "\($0.0)\($0.1)" }.joined()
        return text.isEmpty ? "0s" : text
    }

    /// The intervals next to this one that divide a day.
    private static func dividers(near seconds: Int) -> String {
        guard seconds < secondsOfDay else { return duration(secondsOfDay) }
        let below = (shortestInterval...seconds).last { secondsOfDay.isMultiple(of: $0) }
        let above = (seconds...secondsOfDay).first { secondsOfDay.isMultiple(of: $0) }
        return [below, above].compactMap { $0.map(duration) }.joined(separator: " or ")
    }
}
