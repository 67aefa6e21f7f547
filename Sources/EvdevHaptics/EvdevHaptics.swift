public import Concurrency
public import JSON
import Linux
public import Logging
public import QuickConnect
internal import Synchronization

/// The motor of this device, through evdev's force feedback, or a simulated one.
///
/// One pattern plays at a time, the newest. It runs on a thread that is watched, since an ioctl of a driver may hang; the
/// thread is parked while nothing vibrates, and holds the motor open only meanwhile.
public final class EvdevHaptics: Haptics {
    /// A pattern that plays, or waits for the one before to come to its end.
    private final class Vibration: Sendable {
        let pattern: VibrationPattern
        let caller: Caller
        let promise = Promise<Void>()

        init(_ pattern: VibrationPattern, _ caller: Caller) {
            self.pattern = pattern
            self.caller = caller
        }
    }

    private let source: any MotorSource
    private let logger: Logger
    private let thread: WatchedThread
    private let current = Mutex<Vibration?>(nil)
    private let waker: Waker?

    /// - Parameters:
    ///   - device: the event device to use; nil: the one that can vibrate.
    public convenience init(device: String?, accounts: AccountNames, logger: Logger) {
        let motors = EvdevMotors(
            named: device,
            devices: "/dev/input",
            classes: "/sys/class/input",
            accounts: accounts
        )
        self.init(motors, logger: logger)
    }

    /// - Parameter path: the file that a simulated motor writes what it does to.
    public convenience init(simulatedIn path: String, logger: Logger) {
        self.init(SimulatedMotorSource(path: path), logger: logger)
    }

    /// - Parameter deadline: how long a call of the motor's driver may take.
    init(_ source: any MotorSource, deadline: Duration = .seconds(5), logger: Logger) {
        self.source = source
        self.logger = logger
        thread = WatchedThread(name: "qc-motor", subject: source.description, deadline: deadline)
        waker = try? Waker()
    }

    public func vibrate(_ pattern: VibrationPattern, for caller: Caller) -> Promise<Void> {
        let vibration = Vibration(pattern, caller)
        let before = current.withLock { current in
            defer { current = vibration }
            return current
        }
        before?.promise.fail(CommandError(.cancelled, "a newer vibration took its place"))
        waker?.wake()
        let job = WatchedThread.Job(
            step: "playing on \(source.description)",
            work: { self.play(vibration) },
            giveUp: { (error: CommandError) in self.finish(vibration, .failure(error)) }
        )
        do throws(CommandError) { try thread.run(job) } catch { finish(vibration, .failure(error)) }
        return vibration.promise
    }

    public func end(_ promise: Promise<Void>) {
        end(CommandError(.cancelled, "the call was cancelled")) { $0.promise === promise }
    }

    public func stop(mayEnd: @Sendable (Caller) -> Bool) {
        end(CommandError(.cancelled, "the vibration was stopped")) { mayEnd($0.caller) }
    }

    /// `"vibrating"`: the pattern that plays, in milliseconds, and for whom; empty where none does.
    public func state() -> JSONObject {
        guard let vibration = current.withLock({ $0 }) else { return ["vibrating": []] }
        let pattern = vibration.pattern.milliseconds.map { JSONValue.integer(Int64($0)) }
        return ["vibrating": [["pattern": .array(pattern), "for": vibration.caller.json]]]
    }

    /// Ends the vibration, and takes no other.
    public func close() async {
        end(CommandError(.cancelled, "the daemon is being stopped")) { _ in true }
        await thread.end()
    }

    /// Looks at the motor, on its own thread.
    func examine() async -> Finding {
        let promise = Promise<Finding>()
        let source = source
        let job = WatchedThread.Job(
            step: "looking for \(source.description)",
            work: { promise.fulfil(source.examine()) },
            giveUp: { (error: CommandError) in promise.fail(error) }
        )
        do throws(CommandError) {
            // What vibrates is there, and a look at it would have to wait for its end.
            if current.withLock({ $0 }) != nil { return Finding("vibration", .well, "\(source.description) vibrates") }
            try thread.run(job)
            return try await promise.value()
        } catch {
            return Finding("vibration", error)
        }
    }

    // MARK: On the thread

    private func play(_ vibration: Vibration) {
        guard !vibration.promise.isSettled else { return }
        do throws(CommandError) {
            try play(vibration, on: try source.open())
            finish(vibration, .success(()))
        } catch {
            logger.debug("\(error.message)")
            finish(vibration, .failure(error))
        }
    }

    private func play(_ vibration: Vibration, on motor: any Motor) throws(CommandError) {
        guard let waker else { throw CommandError(.unavailable, "there are no descriptors left") }
        let player = PatternPlayer(waker: waker) { [thread, source] in
            !vibration.promise.isSettled && thread.proceed(to: "playing on \(source.description)")
        }
        do throws(MotorFailure) { try player.play(vibration.pattern, on: motor) } catch {
            throw CommandError(error.code, "\(source.description) stopped: \(error.reason)")
        }
    }

    // MARK: Ends

    /// Ends the pattern that plays where it is meant, at once for who waits; the motor follows.
    private func end(_ error: CommandError, where isMeant: (Vibration) -> Bool) {
        let ended = current.withLock { current -> Vibration? in
            guard let vibration = current, isMeant(vibration) else { return nil }
            current = nil
            return vibration
        }
        ended?.promise.fail(error)
        waker?.wake()
    }

    private func finish(_ vibration: Vibration, _ result: Result<Void, CommandError>) {
        current.withLock { if $0 === vibration { $0 = nil } }
        vibration.promise.settle(result)
    }
}

/// Looks whether this device can vibrate, without letting it.
public struct HapticsDoctor: Examined {
    private let haptics: EvdevHaptics

    public init(_ haptics: EvdevHaptics) { self.haptics = haptics }

    public func examine(thoroughly isThorough: Bool) async -> [Finding] { [await haptics.examine()] }
}
