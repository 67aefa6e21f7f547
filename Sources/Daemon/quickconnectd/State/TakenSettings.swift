import Configuration
import Glibc
import JSON
import Linux
import Logging
import Synchronization

/// What each program beside the daemon has found in the settings when it was started. It is kept in a file of the state
/// directory, because a program that runs on while the daemon is restarted reads nothing anew: `{"PROGRAM": {"pid", "start":
/// ticks since the system's start, "booted": seconds since 1970, "keys": {KEY: TEXT}}}`.
final class TakenSettings: Sendable {
    private let path: String
    /// By program: what the file has, and the programs that have come since this daemon was started.
    private let state: Mutex<(kept: JSONObject, taken: JSONObject)>
    private static let maximumBytes = 1 << 20
    /// By how many seconds the clock may have been set meanwhile.
    private static let tolerance: UInt64 = 60

    init(path: String, logger: Logger) {
        self.path = path
        let what = "the settings that programs have read"
        let kept = StateFile.read(path, what, maximumBytes: Self.maximumBytes, logger: logger) { $0.objectValue }
        state = Mutex((kept ?? [:], [:]))
    }

    /// A program has come. If it has been started since it came last, it has read the settings as they are. May block.
    func note(_ program: String, pid: Int32, _ settings: Settings) {
        var found: JSONObject = ["pid": .integer(Int64(pid)), "keys": .object(Self.keys(of: program, in: settings))]
        let start = ProcessFile.start(of: pid)
        found["start"] = start.map(JSONValue.integer)
        found["booted"] = .integer(
            Int64(KernelClock.seconds(of: CLOCK_REALTIME) - KernelClock.seconds(of: CLOCK_BOOTTIME))
        )
        let text: String? = state.withLock { state in
            if Self.isSame(state.taken[program], found) { return nil }
            // Of a process that is hidden, nothing can be said later.
            let isKept = start != nil && Self.isSame(state.kept[program], found, mayBeEarlier: true)
            state.taken[program] = isKept ? state.kept[program] : .object(found)
            guard start != nil, !isKept else { return nil }
            state.kept[program] = .object(found)
            return JSONValue.object(state.kept).text
        }
        // Where nothing can be written, nothing is kept.
        if let text { try? FileText.replace(path, with: text + "\n") }
    }

    /// Whether it is the same process.
    /// - Parameter mayBeEarlier: whether the old one may be one of an earlier run of the system, with the same numbers.
    private static func isSame(_ old: JSONValue?, _ new: JSONObject, mayBeEarlier: Bool = false) -> Bool {
        guard let old = old?.objectValue, old["pid"] == new["pid"], old["start"] == new["start"] else { return false }
        guard mayBeEarlier else { return true }
        guard let before = old["booted"]?.integerValue, let now = new["booted"]?.integerValue else { return false }
        return (before &- now).magnitude <= tolerance
    }

    private static func keys(of program: String, in settings: Settings) -> JSONObject {
        JSONObject(
            settings.given.filter { Settings.reader(of: $0.key) == program }.map { ($0.key, .string($0.value)) }
        )
    }

    /// The keys of a program that settings set otherwise than it has found, sorted; nil if it has not come.
    func changes(of program: String, in settings: Settings) -> [String]? {
        guard let found = state.withLock({ $0.taken[program] })?.objectValue?["keys"]?.objectValue else { return nil }
        let now = Self.keys(of: program, in: settings)
        return Set(found.names + now.names).filter { found[$0] != now[$0] }.sorted()
    }
}
