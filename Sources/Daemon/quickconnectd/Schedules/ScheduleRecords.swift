import JSON
import Linux
import Logging

/// What is known of schedules over restarts: a file of the state folder, `{"version": 1, "newest", "ended"?, "place"?:
/// [latitude, longitude], "spans": [[begin, end]], "runs": {NAME: {"words", "done", "planned", "last", "result"}}}`.
struct ScheduleRecords: Equatable {
    struct Run: Equatable {
        /// The times as they were then: those of another rule say nothing of this one.
        var words: String
        var done: Int64
        var planned: Int64?
        var last: Int64?
        var result: String?
    }

    /// The newest time that the clock has shown.
    var newest: Int64 = 0
    /// When the daemon ended, if it could say so: up to then nothing was missed.
    var ended: Int64?
    var place: ScheduleBook.Place?
    /// When the clock was watched.
    var spans: [ClosedRange<Int64>] = []
    var runs: [String: Run] = [:]

    private static let version: Int64 = 1
    private static let maxBytes = 16 << 20

    static func == (one: ScheduleRecords, other: ScheduleRecords) -> Bool { one.json == other.json }

    init() {}

    /// Reads what ``json`` writes; nil where it is something else. A part that is damaged is as if it had not been kept.
    init?(_ json: JSONValue) {
        guard let root = json.objectValue, root["version"] == .integer(Self.version) else { return nil }
        newest = root["newest"]?.integerValue ?? 0
        ended = root["ended"]?.integerValue
        let degrees = root["place"]?.arrayValue?.compactMap(\.numberValue) ?? []
        if degrees.count == 2 { place = (latitude: degrees[0], longitude: degrees[1]) }
        spans = (root["spans"]?.arrayValue ?? []).compactMap { span in
            let ends = span.arrayValue?.compactMap(\.integerValue) ?? []
            return ends.count == 2 && ends[0] <= ends[1] ? ends[0]...ends[1] : nil
        }
        for (name, run) in root["runs"]?.objectValue ?? [:] {
            guard let run = run.objectValue, let words = run["words"]?.stringValue,
                let done = run["done"]?.integerValue
            else { continue }
            runs[name] = Run(
                words: words,
                done: done,
                planned: run["planned"]?.integerValue,
                last: run["last"]?.integerValue,
                result: run["result"]?.stringValue
            )
        }
    }

    var json: JSONValue {
        let sorted = runs.sorted { $0.key < $1.key }
        return JSONValue(present: [
            "version": .integer(Self.version), "newest": .integer(newest), "ended": ended.map(JSONValue.integer),
            "place": place.map { .array([.number($0.latitude), .number($0.longitude)]) },
            "spans": .array(spans.map { .array([.integer($0.lowerBound), .integer($0.upperBound)]) }),
            "runs": .object(JSONObject(sorted.map { ($0.key, Self.json($0.value)) })),
        ])
    }

    private static func json(_ run: Run) -> JSONValue {
        JSONValue(present: [
            "words": .string(run.words), "done": .integer(run.done), "planned": run.planned.map(JSONValue.integer),
            "last": run.last.map(JSONValue.integer), "result": run.result.map(JSONValue.string),
        ])
    }

    /// Those of a file; none if there is no such file, or it cannot be read.
    static func read(_ path: String, _ logger: Logger) -> ScheduleRecords {
        StateFile.read(path, "the kept runs of schedules", maximumBytes: maxBytes, logger: logger) {
            ScheduleRecords($0)
        } ?? ScheduleRecords()
    }

    /// Waits until they are on the disk.
    func write(to path: String) throws(SystemCallError) {
        if let folder = Folders.parent(of: path) { try Folders.make(folder) }
        try FileText.replace(path, with: json.text + "\n")
    }
}
