internal import JSON
internal import QuickConnect

/// What an input does over time, recorded: a JSON line for each moment, `{"time": seconds, "value": …}`. Other lines are comments.
struct InputTrack {
    struct Moment: Sendable {
        /// Since the first one.
        let after: Duration
        let value: JSONValue
    }

    let moments: [Moment]

    private static let maxMoments = 100_000

    /// Nil if it has no moment, or one that is not later than the one before, or whose value does not fit.
    init?(_ text: String, for declaration: ValueDeclaration) {
        var (moments, begin, last): ([Moment], Double?, Double) = ([], nil, -.infinity)
        for line in text.split(separator: "\n") where line.hasPrefix("{") {
            guard let members = (try? JSONParser.parse(String(line)))?.objectValue,
                let time = members["time"]?.numberValue, time > last, abs(time) < 1e9,
                let value = members["value"].flatMap({ declaration.accept($0) })
            else { return nil }
            begin = begin ?? time
            last = time
            moments.append(Moment(after: .seconds(time - (begin ?? time)), value: value))
        }
        guard !moments.isEmpty, moments.count <= Self.maxMoments else { return nil }
        self.moments = moments
    }
}
