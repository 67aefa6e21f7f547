internal import JSON
internal import Linux
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

    /// Throws what is wrong, with its line: one that is no moment, or not later than the one before, or whose value does not fit.
    init(_ text: String, for declaration: ValueDeclaration) throws(FileText.Problem) {
        let form = #"{"time": 0.25, "value": \#(declaration.parameter.kind == .boolean ? "true" : "21.5")}"#
        var (moments, begin, last): ([Moment], Double?, Double) = ([], nil, -.infinity)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (number, line) in zip(1..., lines) where line.hasPrefix("{") {
            guard let members = (try? JSONParser.parse(String(line)))?.objectValue,
                let time = members["time"]?.numberValue, abs(time) < 1e9, let value = members["value"]
            else { throw FileText.Problem(message: "has no moment in line \(number): it needs \(form), below 1e9") }
            guard let accepted = declaration.accept(value) else {
                let expected = "expected \(declaration.parameter.expectation), got \(value.gist)"
                throw FileText.Problem(message: "has a value in line \(number) that does not fit: \(expected)")
            }
            guard time > last else {
                throw FileText.Problem(message: "has a time in line \(number) that is not later than the one before")
            }
            guard moments.count < Self.maxMoments else {
                throw FileText.Problem(message: "has more than \(Self.maxMoments) moments, in line \(number)")
            }
            begin = begin ?? time
            last = time
            moments.append(Moment(after: .seconds(time - (begin ?? time)), value: accepted))
        }
        guard !moments.isEmpty else {
            throw FileText.Problem(message: "has no moment in it: it needs lines such as \(form)")
        }
        self.moments = moments
    }
}
