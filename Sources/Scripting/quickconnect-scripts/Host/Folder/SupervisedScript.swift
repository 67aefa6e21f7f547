import Concurrency
internal import Glibc
internal import JSON
internal import Linux

/// One script of the folder: its process, and the process that will replace it.
final class SupervisedScript {
    /// Its state.
    enum State {
        /// Its process runs the script for the first time.
        case starting
        case running
        /// It ended because nothing was left to wait for; it starts again when its file changes.
        case ended
        /// It failed, and restarts at that time.
        case restarting(ContinuousClock.Instant)
        /// Its text is not valid; it starts again when its file changes.
        case failed
        /// Its file was deleted, and its process is ending.
        case removed

        var name: String {
            switch self {
            case .starting: "starting"
            case .running: "running"
            case .ended: "ended"
            case .restarting: "restarting"
            case .failed: "failed"
            case .removed: "removed"
            }
        }
    }

    let name: String
    private(set) var state = State.starting
    private(set) var current: ScriptProcess?
    /// A process with a new text, tried while the old one runs.
    private(set) var candidate: ScriptProcess?
    /// Replaced processes: they answer the calls that they have, and end.
    private var finishing: [(process: ScriptProcess, endsBy: ContinuousClock.Instant)] = []
    /// When the current process, which was asked to end, is killed.
    private var endsCurrentBy: ContinuousClock.Instant?
    private var isStopping = false
    /// Whether the text has changed since the error.
    private var isNewText = false
    private var version: ScriptFolder.Version?
    private var fileVersions: [String: ScriptFolder.Version?] = [:]
    private var pause: Duration
    private(set) var restarts = 0
    /// The last error, possibly of a process that is gone.
    private(set) var error: String?
    private(set) var limit: String?

    /// The delays before a failed script restarts.
    struct Pauses {
        var shortest = Duration.seconds(1)
        var longest = Duration.seconds(60)
    }

    private let pauses: Pauses
    /// Whether it has no file of its own, and always restarts.
    private let isService: Bool
    /// After this time a process counts as healthy, and its next failure as the first.
    private static let probation = Duration.seconds(60)
    /// How long a process may take to end.
    private static let graceTime = Duration.seconds(3)
    /// How long a replaced process may take to answer its calls; normally it ends by itself before.
    private let finishTime: Duration

    /// Called when the running process has failed, with its last report and the reason.
    var onFailure: ((ScriptReport, String) -> Void)?

    /// Called when a process may act; by default it is told so.
    var onRelease: (ScriptProcess) -> Void = { $0.order(.goOn) }

    private let make: (String) -> ScriptProcess?
    private let log: (String, String) -> Void

    /// - Parameters:
    ///   - handlerSeconds: how long its callers may wait for an answer.
    ///   - service: the restart delays of a service, which has no file and never stays ended; nil: it belongs to a
    ///     file.
    ///   - make: starts a process for the script.
    ///   - log: writes a line of a level.
    init(
        _ name: String,
        handlerSeconds: Double,
        service: Pauses? = nil,
        make: @escaping (String) -> ScriptProcess?,
        log: @escaping (String, String) -> Void
    ) {
        self.name = name
        isService = service != nil
        pauses = service ?? Pauses()
        pause = pauses.shortest
        finishTime = .seconds(handlerSeconds) + Self.graceTime
        self.make = make
        self.log = log
    }

    var processes: [ScriptProcess] { living + finishing.map(\.process) }

    private var living: [ScriptProcess] { [current, candidate].compactMap { $0 } }

    var loadedFiles: Set<String> { living.reduce(into: []) { $0.formUnion($1.loadedFiles) } }

    // MARK: The file

    /// Checks whether its file, or one that it has loaded, has changed.
    func look(_ folder: ScriptFolder) {
        let now = folder.version(name)
        if case .removed = state, !isStopping, now != nil {
            // It was gone only for a moment.
            state = .starting
            version = nil
        }
        let files = loadedFiles.union(fileVersions.keys)
        let isChanged =
            now != version
            || files.contains { file in
                fileVersions[file].map { $0 != folder.version(file) } ?? false
            }
        for file in files { fileVersions[file] = folder.version(file) }
        guard isChanged, now != nil else { return }
        version = now
        pause = pauses.shortest
        isNewText = true
        begin()
    }

    /// Starts a script without a file.
    func start() { begin() }

    /// The process that runs it, or is about to.
    var newest: ScriptProcess? { candidate ?? current }

    private func begin() {
        candidate?.child.signal(SIGKILL)
        retired.append(contentsOf: [candidate].compactMap { $0 })
        candidate = make(name)
        if current == nil { state = .starting }
        if candidate == nil { fail("no process can be started for it") }
    }

    /// Its file is gone.
    func remove() {
        if case .removed = state { return }
        state = .removed
        candidate?.child.signal(SIGKILL)
        endsCurrentBy = .now + Self.graceTime
        for index in finishing.indices { finishing[index].endsBy = .now + Self.graceTime }
        for process in [current].compactMap({ $0 }) + finishing.map(\.process) { process.child.signal(SIGTERM) }
    }

    var isGone: Bool {
        if case .removed = state { processes.isEmpty } else { false }
    }

    /// Ends all its processes, as when the host ends.
    func stop() {
        isStopping = true
        remove()
    }

    // MARK: Its processes

    /// Killed processes whose end does not matter.
    private var retired: [ScriptProcess] = []

    /// Reads the processes' reports. Returns whether a loaded file is not watched yet.
    func read() -> Bool {
        for (process, _) in finishing { _ = process.read() }
        for process in living where process.read() {
            error = process.report.error ?? error
            limit = process.report.limit ?? limit
        }
        if let candidate, candidate.isLoaded { takeOver() }
        return !loadedFiles.isSubset(of: fileVersions.keys)
    }

    /// The new text is valid: the old process removes its handlers from the daemon, so that the new one may register
    /// them.
    private func takeOver() {
        guard let current else { return promote() }
        if current.isReleased {
            finishing.append((current, .now + finishTime))
            promote()
        } else if endsCurrentBy == nil {
            endsCurrentBy = .now + finishTime
            current.order(.finish)
        }
    }

    private func promote() {
        if case .removed = state { return }
        current = candidate
        candidate = nil
        endsCurrentBy = nil
        state = .running
        if isNewText {
            // The error of the old text is fixed.
            error = current?.report.error
            limit = current?.report.limit
            isNewText = false
        }
        if let current { onRelease(current) }
    }

    /// Takes up what has ended of its processes.
    func reap() {
        retired.removeAll { $0.child.reap() }
        for process in processes where process.child.reap() { didEnd(process, process.child.end ?? .unknown) }
    }

    private func didEnd(_ process: ScriptProcess, _ end: Child.End) {
        // Its last report may be that it is loaded, which makes it the current one.
        _ = read()
        if let index = finishing.firstIndex(where: { $0.process === process }) {
            finishing.remove(at: index)
        } else if candidate === process {
            candidate = nil
            didFailToLoad(process, end)
        } else if current === process {
            current = nil
            endsCurrentBy = nil
            if case .removed = state { return }
            if let candidate, candidate.isLoaded { promote() } else if candidate == nil { didEndAlone(process, end) }
        }
    }

    private func didFailToLoad(_ process: ScriptProcess, _ end: Child.End) {
        if case .removed = state { return }
        if isService, current == nil { return fail(process.report.error ?? Self.sentence(end)) }
        if end == .status(0) {
            if current == nil { state = .ended }
            return
        }
        // Somebody else has killed it, such as the kernel for want of memory: no fault of the text.
        if case .signal(SIGKILL) = end, process.report.error == nil, process.report.limit == nil {
            return fail(Self.sentence(end))
        }
        error = process.report.error ?? Self.sentence(end)
        limit = process.report.limit
        if current != nil {
            log("error", "\(name): the new text does not load, so the old one keeps running: \(error ?? "")")
        } else {
            state = .failed
            log("error", "\(name) does not load: \(error ?? "")")
        }
    }

    private func didEndAlone(_ process: ScriptProcess, _ end: Child.End) {
        if end == .status(0), !isService {
            state = .ended
            return
        }
        if process.report.error == nil || process.report.limit == nil, case .signal = end { error = Self.sentence(end) }
        if .now - process.started >= Self.probation { pause = pauses.shortest }
        let reason = error ?? Self.sentence(end)
        onFailure?(process.report, reason)
        fail(reason)
    }

    private func fail(_ reason: String) {
        error = reason
        state = .restarting(.now + pause)
        log("warning", "\(name) restarts in \(pause.words): \(reason)")
        pause = min(pause * 2, pauses.longest)
    }

    private static func sentence(_ end: Child.End) -> String {
        if case .signal(let number) = end { "\(end) (\(String(cString: strsignal(number))))" } else { "\(end)" }
    }

    // MARK: Time

    /// When to check again without an event.
    var nextMoment: ContinuousClock.Instant? {
        var moments = finishing.map(\.endsBy)
        if case .restarting(let instant) = state { moments.append(instant) }
        if current != nil, let endsCurrentBy { moments.append(endsCurrentBy) }
        return moments.min()
    }

    /// Does what is due.
    func tick(_ now: ContinuousClock.Instant) {
        if let current, let end = endsCurrentBy, end <= now {
            current.child.signal(SIGKILL)
            endsCurrentBy = now + Self.graceTime
        }
        for index in finishing.indices where finishing[index].endsBy <= now {
            finishing[index].process.child.signal(SIGKILL)
            finishing[index].endsBy = now + Self.graceTime
        }
        if case .restarting(let instant) = state, instant <= now, candidate == nil {
            restarts += 1
            begin()
        }
    }

    // MARK: Telling

    /// The state in the form of `quickconnect scripts`.
    var json: JSONValue {
        let process = current ?? candidate
        var members: JSONObject = ["name": .string(name), "state": .string(state.name)]
        if let process {
            members["pid"] = .integer(Int64(process.child.pid))
            members["seconds"] = .integer(Int64((ContinuousClock.now - process.started) / .seconds(1)))
            members["memoryBytes"] = .integer(Int64(process.child.memoryBytes))
            members["cpuSeconds"] = .number(process.child.cpuSeconds)
            members["calls"] = .integer(Int64(process.report.calls ?? 0))
            members["answers"] = .integer(Int64(process.report.answers ?? 0))
            members["droppedLines"] = .integer(Int64(process.report.droppedLines ?? 0))
            members["warning"] = process.report.warning.map(JSONValue.string)
        }
        members["restarts"] = .integer(Int64(restarts))
        if let error { members["error"] = .string(error) }
        if let limit { members["limit"] = .string(limit) }
        return .object(members)
    }
}
