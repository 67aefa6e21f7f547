import Calendar
import Concurrency
import Configuration
import Glibc
import JSON
import Linux
import Logging
import QuickConnect
import Runtime
import Synchronization

/// Runs the schedules that the mappings declare, on the daemon's loop, and keeps what must be known of them over restarts.
final class Scheduler: Sendable {
    /// Told how a run that somebody has asked for ends.
    typealias RunEnd = @Sendable (_ result: String) -> Void

    private struct State {
        var book: ScheduleBook
        /// The schedules whose calls are under way.
        var running: Set<ByteName> = []
        /// Where it runs, between ``start(on:_:)`` and ``stop()``.
        var stage: Stage?
        /// Whether the log already says that the file cannot be written.
        var isTold = false
        var lastWrite: Int64 = 0
        /// When the device's position was last asked for.
        var lastSearch: Int64 = 0
        var zoneFile: FileMark?
    }

    private struct Stage: Sendable {
        let loop: Loop
        let router: Router
    }

    private let state: Mutex<State>
    private let path: String
    private let logger: Logger
    private let now: @Sendable () -> Int64
    /// When the daemon started, which is before the programs that answer.
    private let started: Int64
    /// Whether the place that the device tells is its own.
    private let keepsPlace: Bool
    private let thread = SideThread<Void>("qc-schedules", wake: {})
    /// On the loop only.
    private let timer = Mutex<LoopBound<ClockTimer>?>(nil)

    /// How many seconds a call waits for who answers it, where its time was before the daemon's start or in a sleep.
    private static let handlerTimeout = 60
    private static let hour: Int64 = 3600
    private static let day = 24 * hour
    private static let zonePath = "/etc/localtime"

    /// - Parameters:
    ///   - path: the file that is kept; it is read now.
    ///   - place: where the settings say that the device is.
    ///   - isSimulated: whether the place that the device tells is made up.
    ///   - now: the time of day, in seconds since 1970.
    init(
        path: String,
        built: Int64,
        place: ScheduleBook.Place?,
        isSimulated: Bool = false,
        logger: Logger,
        now: @escaping @Sendable () -> Int64 = Scheduler.timeOfDay
    ) {
        self.path = path
        self.logger = logger
        self.now = now
        started = now()
        keepsPlace = !isSimulated
        if let problem = LocalZone.problem { logger.warning("\(problem)") }
        var records = ScheduleRecords.read(path, logger)
        if isSimulated { records.place = nil }
        state = Mutex(State(book: ScheduleBook(records, built: built, now: now(), place: place)))
    }

    /// Not time(2), which is some milliseconds behind: a timer would have come too early.
    @Sendable static func timeOfDay() -> Int64 { ClockReading.now.wall / 1000 }

    convenience init(_ settings: Settings, logger: Logger) {
        var program = stat()
        _ = stat("/proc/self/exe", &program)
        let place = settings.position.map { (latitude: $0.latitude, longitude: $0.longitude) }
        self.init(
            path: settings.schedules,
            built: Int64(program.st_mtim.tv_sec),
            place: place,
            isSimulated: settings.simulate,
            logger: logger
        )
    }

    // MARK: Any thread

    /// Takes the schedules of a table.
    func adopt(_ table: MappingTable) {
        let declared = table.entries.compactMap { entry in entry.schedule.map { (name: entry.command, declaration: $0) }
        }
        let (stage, isNews) = state.withLock { ($0.stage, $0.book.adopt(declared, now: now())) }
        stage?.loop.execute { self.look(isNews: isNews) }
    }

    /// Runs from now on what callers ask for.
    func prepare(on loop: Loop, _ router: Router) {
        state.withLock { state in
            state.stage = Stage(loop: loop, router: router)
            state.zoneFile = FileMark(Self.zonePath)
        }
    }

    /// Runs from now on what is due.
    func start(on loop: Loop) { loop.execute { self.look(isNews: true) } }

    /// Runs nothing more, and ends when what is to be kept is on the disk.
    func stop() async {
        let kept = state.withLock { state -> ScheduleRecords? in
            state.stage = nil
            return state.book.isWorthKeeping ? state.book.kept(at: now(), isLast: true) : nil
        }
        let done = Promise<Void>()
        // Behind what is being written.
        thread.run(for: "") {
            if let kept { self.write(kept) }
            done.fulfil(())
        }
        try? await done.value()
    }

    func report(of name: String) -> ScheduleBook.Report? { state.withLock { $0.book.report(of: name) } }

    /// Runs one now, for a caller.
    /// - Parameter ended: is told the result.
    func run(_ name: String, for caller: Caller, _ ended: @escaping RunEnd) throws(CommandError) {
        let (stage, declaration) = state.withLock { ($0.stage, $0.book.declaration(of: name)) }
        guard let stage, let declaration else {
            throw CommandError(
                .unavailable,
                "the schedule '\(name)' does not run: a reload removed it, or the daemon ends"
            )
        }
        let due = ScheduleBook.Due(name: name, planned: now(), isMissed: false, declaration: declaration)
        guard perform(due, on: stage, for: 0, ended) else {
            throw CommandError(.busy, "the schedule '\(name)' still runs")
        }
        logger.info("the schedule '\(name)' is run for \(caller)")
    }

    // MARK: On the loop

    /// Whether the zone is another one than before, and where the device is, if nobody knows: looked at beside other work, so
    /// that nothing wakes for it.
    func checkSurroundings() {
        let mark = FileMark(Self.zonePath)
        let (isOther, stage) = state.withLock { state in
            defer { state.zoneFile = mark }
            guard !state.book.isEmpty, state.zoneFile != mark else { return (false, state.stage) }
            state.book.changeZone(now: now())
            return (true, state.stage)
        }
        if isOther { look() }
        if let stage { searchPlace(stage, now()) }
    }

    private func look(jumped: Bool = false, isNews: Bool = false) {
        let now = now()
        let (due, stage, kept) = state.withLock { state -> ([ScheduleBook.Due], Stage?, ScheduleRecords?) in
            guard let stage = state.stage else { return ([], nil, nil) }
            let due = state.book.advance(to: now, jumped: jumped)
            let mustKeep = (isNews || jumped) && state.book.isWorthKeeping
            let isTime = !due.isEmpty && abs(now - state.lastWrite) >= Self.hour
            guard mustKeep || isTime || due.contains(where: \.declaration.runsMissed) else { return (due, stage, nil) }
            state.lastWrite = now
            return (due, stage, state.book.kept(at: now, isLast: false))
        }
        guard let stage else { return close() }
        let wait = due.contains(where: \.declaration.runsMissed)
        let perform: @Sendable () -> Void = { for run in due { self.perform(run, on: stage) } }
        if let kept {
            // What has been noted is never done twice, whenever the power fails.
            thread.run(for: "") {
                self.write(kept)
                if wait { stage.loop.execute(perform) }
            }
        }
        if !wait { perform() }
        searchPlace(stage, now)
        arm(stage)
    }

    private func perform(_ run: ScheduleBook.Due, on stage: Stage) {
        let timeout = run.isMissed || run.planned <= started ? Self.handlerTimeout : 0
        if !perform(run, on: stage, for: timeout, { _ in }) {
            logger.warning("the schedule '\(run.name)' still runs, so its next run is left out")
        }
    }

    /// Sends its event and makes its call; false if its last call is still under way.
    private func perform(_ run: ScheduleBook.Due, on stage: Stage, for time: Int, _ ended: @escaping RunEnd) -> Bool {
        let name = ByteName(run.name)
        let isFree = state.withLock { state in
            guard state.running.insert(name).inserted else { return false }
            state.book.begin(run.name, at: now())
            return true
        }
        guard isFree else { return false }
        let event: JSONValue = ["planned": .integer(1000 * run.planned), "missed": .bool(run.isMissed)]
        stage.router.events.publish(Event(run.name, event, kind: .message))
        make(run, on: stage, for: time, ended)
        return true
    }

    /// Makes its call.
    /// - Parameter time: for how many seconds it waits for the program that answers it.
    private func make(_ run: ScheduleBook.Due, on stage: Stage, for time: Int, _ ended: @escaping RunEnd) {
        let name = run.name
        guard let call = run.declaration.call else { return end(name, .success(.null), ended) }
        guard time > 0, stage.router.lacksHandler(of: call.command.value) else {
            let caller = PlannedCall.caller(name)
            return InternalCall.make(call.command.value, call.parameters, as: caller, on: stage.router, stage.loop) {
                self.end(name, $0, ended)
            }
        }
        AlarmThread.shared.ring(after: .seconds(1)) {
            stage.loop.execute {
                let (isOver, declared) = self.state.withLock { ($0.stage == nil, $0.book.declaration(of: name)) }
                let isSame =
                    declared?.call?.command.value == call.command.value
                    && declared?.call?.parameters == call.parameters
                let problem = isOver ? "the daemon ends" : isSame ? nil : "a reload has changed the schedule"
                if let problem {
                    let says = "nobody answered '\(call.command.value)', and \(problem)"
                    return self.end(name, .failure(CommandError(.unavailable, says)), ended)
                }
                self.make(run, on: stage, for: time - 1, ended)
            }
        }
    }

    private func end(_ name: String, _ outcome: InternalCall.Outcome, _ ended: RunEnd) {
        var result = "ok"
        if case .failure(let error) = outcome {
            result = error.code.rawValue
            logger.warning("the call of the schedule '\(name)' failed: \(error.placedMessage)")
        }
        state.withLock { state in
            state.running.remove(ByteName(name))
            state.book.end(name, with: result)
        }
        ended(result)
    }

    /// Asks the device where it is, if a schedule goes by the sun and the settings do not say: once a day, and each hour if
    /// nobody knows.
    private func searchPlace(_ stage: Stage, _ now: Int64) {
        let mustSearch = state.withLock { state in
            let pause = state.book.lacksPlace ? Self.hour : Self.day
            guard state.book.asksForPlace, abs(now - state.lastSearch) >= pause else { return false }
            state.lastSearch = now
            return true
        }
        guard mustSearch else { return }
        InternalCall.make("location", as: .daemon, on: stage.router, stage.loop) { outcome in
            guard case .success(let answer) = outcome, let position = answer.objectValue,
                let latitude = position["latitude"]?.numberValue, let longitude = position["longitude"]?.numberValue
            else { return }
            self.state.withLock { $0.book.move(to: (latitude, longitude), now: self.now()) }
            stage.loop.execute { self.look(isNews: true) }
        }
    }

    private func arm(_ stage: Stage) {
        let (isEmpty, wake) = state.withLock { ($0.book.isEmpty, $0.book.wake) }
        guard !isEmpty else { return close() }
        let timer = timer.withLock { $0 }
        if let timer { return timer.value.wait(until: wake) }
        do throws(SystemCallError) {
            let new = try ClockTimer(on: stage.loop) { [weak self] in self?.look(jumped: $0) }
            new.wait(until: wake)
            self.timer.withLock { $0 = LoopBound(new, on: stage.loop) }
        } catch {
            logger.error("schedules do not run: \(error)")
        }
    }

    private func close() {
        timer.withLock { $0.take() }?.value.close()
    }

    private func write(_ kept: ScheduleRecords) {
        var kept = kept
        if !keepsPlace { kept.place = nil }
        do throws(SystemCallError) {
            try kept.write(to: path)
            state.withLock { $0.isTold = false }
        } catch {
            let isTold = state.withLock { state in
                defer { state.isTold = true }
                return state.isTold
            }
            if !isTold { logger.error("what is known of schedules cannot be kept in \(path): \(error)") }
        }
    }

    // MARK: For the doctor

    /// How many there are, the next one, and what keeps them from running.
    struct Condition {
        var count: Int
        var next: (name: String, at: Int64)?
        var isClockSet: Bool
        /// The newest time that is kept, if the clock is earlier, and the file that has it.
        var newest: (time: Int64, path: String)?
        var lacksPlace: Bool
        /// What failed the last time, when it began, and how.
        var failures: [(name: String, at: Int64, code: String)]
    }

    var condition: Condition {
        let now = now()
        return state.withLock { state in
            let nexts = state.book.names.compactMap { name in
                state.book.report(of: name)?.next.map { (name: name, at: $0) }
            }
            let newest = state.book.newestKept(at: now).map { (time: $0, path: path) }
            return Condition(
                count: state.book.count,
                next: nexts.min { $0.at < $1.at },
                isClockSet: state.book.isClockSet,
                newest: newest,
                lacksPlace: state.book.lacksPlace,
                failures: state.book.failures
            )
        }
    }
}

/// Tells one content of a file from another, without reading it.
private struct FileMark: Equatable, Sendable {
    private let inode: UInt64
    private let changed: Int

    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        inode = UInt64(status.st_ino)
        changed = status.st_mtim.tv_sec
    }
}
