internal import Concurrency
package import JSON
package import Logging
package import QuickConnect
internal import Synchronization

/// The motor of this device, through evdev's force feedback, or a simulated one.
///
/// One pattern plays at a time, the newest. It runs on a watched thread, since a driver's ioctl may hang. The thread is
/// parked while nothing vibrates, and the motor is open only while it vibrates.
package final class EvdevHaptics: Haptics, Examined {
    /// A pattern that plays, or waits for the previous one to end.
    private final class Vibration: Sendable {
        let pattern: VibrationPattern
        let caller: Caller
        let promise = Promise<Void>()

        init(_ pattern: VibrationPattern, _ caller: Caller) {
            self.pattern = pattern
            self.caller = caller
        }
    }

    private struct State {
        /// The current pattern, playing or next to play.
        var current: Vibration?
        /// Whether the thread is working, or about to.
        var isPlaying = false
    }

    private let source: any MotorSource
    private let logger: Logger
    private let thread: WatchedThread
    private let shared = Mutex(State())
    private let waker: Waker?
    private let examination: WatchedExamination

    /// - Parameters:
    ///   - device: the event device to use; nil: the first that can vibrate.
    package convenience init(device: String?, accounts: AccountNames, logger: Logger) {
        let motors = EvdevMotors(
            named: device,
            devices: "/dev/input",
            classes: "/sys/class/input",
            accounts: accounts
        )
        self.init(motors, logger: logger)
    }

    /// - Parameter path: the file to which a simulated motor writes what it does.
    package convenience init(simulatedIn path: String, logger: Logger) {
        self.init(SimulatedMotorSource(path: path), logger: logger)
    }

    /// - Parameter deadline: how long a call of the motor's driver may take.
    init(_ source: any MotorSource, deadline: Duration = .seconds(5), logger: Logger) {
        self.source = source
        self.logger = logger
        thread = WatchedThread(name: "qc-motor", subject: source.description, deadline: deadline)
        waker = try? Waker()
        examination = WatchedExamination("vibration", of: source.description, thread: "qc-mot-dr", deadline: deadline) {
            _ in
            source.examine()
        }
    }

    package func vibrate(_ pattern: VibrationPattern, for caller: Caller) -> Promise<Void> {
        let vibration = Vibration(pattern, caller)
        let (before, begins) = shared.withLock { state in
            defer { (state.current, state.isPlaying) = (vibration, true) }
            return (state.current, !state.isPlaying)
        }
        before?.promise.fail(CommandError(.cancelled, "a newer vibration took its place"))
        if begins { begin() } else { waker?.wake() }
        return vibration.promise
    }

    /// One job plays all patterns one after the other, so however many are requested, the job queue does not grow.
    private func begin() {
        thread.run("opening \(source.description)") {
            self.play()
        } orElse: {
            self.giveUp($0)
        }
    }

    private func giveUp(_ error: CommandError) {
        let vibration = shared.withLock { state in
            defer { state = State() }
            return state.current
        }
        vibration?.promise.fail(error)
    }

    package func end(_ promise: Promise<Void>) {
        end(CommandError(.cancelled, "the call was cancelled")) { $0.promise === promise }
    }

    package func stop(mayEnd: @Sendable (Caller) -> Bool) {
        end(CommandError(.cancelled, "the vibration was stopped")) { mayEnd($0.caller) }
    }

    /// `"vibrating"`: the current pattern, in milliseconds, and for whom; empty if none is playing.
    package func state() -> JSONObject {
        guard let vibration = shared.withLock({ $0.current }) else { return ["vibrating": []] }
        let pattern = vibration.pattern.milliseconds.map { JSONValue.integer(Int64($0)) }
        return ["vibrating": [["pattern": .array(pattern), "for": vibration.caller.json]]]
    }

    /// Ends the vibration, and accepts no more.
    package func close() async {
        end(CommandError(.cancelled, "the daemon is being stopped")) { _ in true }
        await thread.end()
        await examination.close()
    }

    package func examine(thoroughly isThorough: Bool) async -> [Finding] { [await examine()] }

    /// A motor that vibrates works, so it is not checked meanwhile.
    func examine() async -> Finding {
        if shared.withLock({ $0.isPlaying }) { return Finding("vibration", .ok, "\(source.description) vibrates") }
        return await examination.finding()
    }

    // MARK: On the thread

    private func play() {
        while proceed, let vibration = next() { play(vibration) }
    }

    /// Reports that the thread is alive; false if it was given up meanwhile.
    private var proceed: Bool { thread.proceed(to: "playing on \(source.description)") }

    private func next() -> Vibration? {
        shared.withLock { state in
            if state.current == nil { state.isPlaying = false }
            return state.current
        }
    }

    private func play(_ vibration: Vibration) {
        do throws(CommandError) {
            try play(vibration, on: try source.open())
            finish(vibration, .success(()))
        } catch {
            logger.debug("\(error.message)")
            finish(vibration, .failure(error))
        }
    }

    private func play(_ vibration: Vibration, on motor: any Motor) throws(CommandError) {
        guard let waker else { throw CommandError(.unavailable, "the process has no file descriptors left") }
        let player = PatternPlayer(waker: waker) { !vibration.promise.isSettled && self.proceed }
        do throws(CommandError) { try player.play(vibration.pattern, on: motor) } catch {
            throw CommandError(error.code, "\(source.description) stopped: \(error.message)")
        }
    }

    // MARK: Ends

    /// Ends the current pattern if `isMeant` accepts it. Its promise is settled at once; the motor follows.
    private func end(_ error: CommandError, where isMeant: (Vibration) -> Bool) {
        let ended = shared.withLock { state -> Vibration? in
            guard let vibration = state.current, isMeant(vibration) else { return nil }
            state.current = nil
            return vibration
        }
        ended?.promise.fail(error)
        waker?.wake()
    }

    private func finish(_ vibration: Vibration, _ result: Result<Void, CommandError>) {
        shared.withLock { if $0.current === vibration { $0.current = nil } }
        vibration.promise.settle(result)
    }
}
