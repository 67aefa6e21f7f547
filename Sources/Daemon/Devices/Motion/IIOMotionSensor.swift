internal import Concurrency
public import JSON
import Linux
public import Logging
public import QuickConnect
internal import Synchronization

/// The accelerometer of this device, through the kernel's IIO subsystem, or a recorded motion.
///
/// All callers and subscribers share one sensor, which is on only while there are any. It runs on a watched thread,
/// since a driver may hang; the thread is parked at other times, and sleeps in poll(2) until the next value.
public final class IIOMotionSensor: MotionSensor {
    private struct Waiter {
        let promise: Promise<Acceleration>
        let caller: Caller
    }

    private struct State {
        var waiters: [Waiter] = []
        /// Whether the thread is working, or about to.
        var isRunning = false
        var isClosed = false
        /// Whether the sensor was there once; then it may come back.
        var wasThere = false
        /// Which sensor is used and how it is read, while it is on.
        var way: String?
        /// Whether its loss has been logged.
        var isLost = false
    }

    private let source: any MotionSource
    private let logger: Logger
    private let thread: WatchedThread
    private let examination: WatchedExamination
    private let waker: Waker?
    private let shared = Mutex(State())

    /// The event `accel`; see ``AccelerationEvent``.
    public let event = AccelerationEvent()

    /// The longest sleep: the thread must regularly report that it is alive.
    private static let longestSleep = Duration.seconds(2)

    /// - Parameters:
    ///   - device: the IIO device to use, by its name or as `iio:device0`; nil: the first that is an accelerometer.
    ///   - matrix: applied to the sensor's values after its own mount matrix.
    ///   - logger: gets a line when the sensor is lost, and when it is back.
    public convenience init(device: String?, matrix: Matrix?, logger: Logger) {
        let source = IIOSource(named: device, matrix: matrix, root: "/sys/bus/iio/devices", nodes: "/dev")
        self.init(source, logger: logger)
    }

    /// A sensor that measures what a person or a track says.
    /// - Parameter simulated: see ``tilt(track:)``.
    public convenience init(simulated: SimulatedInput, matrix: Matrix?, logger: Logger) {
        self.init(SimulatedMotionSource(input: simulated, matrix: matrix), logger: logger)
        simulated.whenChanged { [weak self] in self?.waker?.wake() }
    }

    /// How the simulated device is tilted: `roll`, by which its right edge is higher than its left one, and `pitch`, by
    /// which its top edge is higher than its bottom one, in degrees. At 0 and 0 it lies with its screen up.
    /// - Parameter track: a file of JSON lines, replayed as if they were current.
    public static func tilt(track: String) -> SimulatedInput {
        SimulatedInput(
            "tilt",
            [.init("roll", in: -180...180, "degrees"), .init("pitch", in: -180...180, "degrees")],
            track: track
        )
    }

    /// - Parameter deadline: how long a call of the sensor's driver may take.
    init(_ source: any MotionSource, deadline: Duration = .seconds(5), logger: Logger) {
        self.source = source
        self.logger = logger
        thread = WatchedThread(name: "qc-motion", subject: source.description, deadline: deadline)
        examination = WatchedExamination("motion", of: source.description, thread: "qc-iio-dr", deadline: deadline) {
            thread in
            source.examine { _ = thread.proceed(to: "reading \(source.description)") }
        }
        waker = try? Waker()
        event.setSensor(self)
    }

    public func acceleration(for caller: Caller) async throws(CommandError) -> Acceleration {
        try check()
        let waiter = Waiter(promise: Promise(), caller: caller)
        shared.withLock { $0.waiters.append(waiter) }
        wantedChanged()
        defer { leave(waiter) }
        return try await waiter.promise.value()
    }

    /// Throws `unsupported` if there is no sensor, `unavailable` if there was one.
    func check() throws(CommandError) {
        do throws(CommandError) { try source.check() } catch {
            guard shared.withLock({ $0.wasThere }) else { throw error }
            throw CommandError(.unavailable, "\(source.description) went away: \(error.message)")
        }
    }

    /// `"measuring"`: the callers that wait for a value. Subscribers are listed under `"watched"`.
    public func state() -> JSONObject {
        ["measuring": .array(shared.withLock { $0.waiters.map { ["for": $0.caller.json] } })]
    }

    /// Does nothing: a caller that waits for a value causes no sound or motion that `stop` would end.
    public func stop(mayEnd: @Sendable (Caller) -> Bool) {}

    /// Switches the sensor off; callers that wait get `cancelled`.
    public func close() async {
        shared.withLock { $0.isClosed = true }
        fail(CommandError(.cancelled, "the daemon is being stopped"))
        waker?.wake()
        await thread.end()
        await examination.close()
    }

    /// A sensor in use works, so it is not checked meanwhile: many drivers refuse other readers then.
    func examine() async -> Finding {
        if let way = shared.withLock({ $0.way }) { return Finding("motion", .ok, "\(way), is being read") }
        return await examination.finding()
    }

    // MARK: Who wants it

    /// Starts the thread, or makes it check who wants values at which rate.
    func wantedChanged() {
        let begins = shared.withLock { state in
            guard !state.isRunning, isWanted(&state) else { return false }
            state.isRunning = true
            return true
        }
        guard begins else {
            waker?.wake()
            return
        }
        let job = WatchedThread.Job(
            step: "opening \(source.description)",
            work: { self.run() },
            giveUp: { (error: CommandError) in self.giveUp(error) }
        )
        do throws(CommandError) { try thread.run(job) } catch { giveUp(error) }
    }

    private func isWanted(_ state: inout State) -> Bool {
        state.waiters.removeAll { $0.promise.isSettled }
        return !state.isClosed && (!state.waiters.isEmpty || event.fastestRate != nil)
    }

    private var isWanted: Bool { shared.withLock { isWanted(&$0) } }
    private var wantedRate: Double { event.fastestRate ?? AccelerationEvent.defaultRate }

    private func leave(_ waiter: Waiter) {
        shared.withLock { $0.waiters.removeAll { $0.promise === waiter.promise } }
        waker?.wake()
    }

    private func fail(_ error: CommandError) {
        let waiters = shared.withLock { state in
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.promise.fail(error) }
    }

    /// The driver does not return. Tries again later, as long as somebody subscribes.
    private func giveUp(_ error: CommandError) {
        shared.withLock { $0.isRunning = false }
        lost(error)
        guard isWanted else { return }
        AlarmThread.shared.ring(after: Self.longestSleep) { [weak self] in self?.wantedChanged() }
    }

    // MARK: On the thread

    private func run() {
        guard let waker else { return giveUp(CommandError(.unavailable, "the process has no file descriptors left")) }
        repeat {
            while isWanted, proceed(to: "opening") {
                do throws(CommandError) { try watch(waker) } catch {
                    lost(error)
                    if isWanted { _ = waker.sleep(until: .now + Self.longestSleep) }
                }
            }
        } while !hasEnded()
    }

    /// Delivers values until nobody wants any, another rate is wanted, or there is a better way to read them.
    private func watch(_ waker: Waker) throws(CommandError) {
        let rate = wantedRate
        let stream = try source.open(rate: rate)
        found(stream)
        defer { shared.withLock { $0.way = nil } }
        while isWanted, wantedRate == rate, proceed(to: "reading") {
            // What measures from now on is told at once.
            guard !stream.isOutdated else { return event.restartPace() }
            if let value = try stream.next(waker, until: .now + Self.longestSleep) { take(value, stream.rate) }
        }
    }

    private func take(_ value: Acceleration, _ rate: Double) {
        let waiters = shared.withLock { state in
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.promise.fulfil(value) }
        event.publish(value, rate: rate)
    }

    private func found(_ stream: any MotionStream) {
        let isBack = shared.withLock { state in
            defer { (state.wasThere, state.isLost, state.way) = (true, false, stream.description) }
            return state.isLost
        }
        if isBack {
            logger.notice("\(source.description) is back: \(stream.description)")
        } else {
            logger.debug("\(stream.description)")
        }
    }

    private func lost(_ error: CommandError) {
        let isNew = shared.withLock { state in
            defer { state.isLost = true }
            return !state.isLost
        }
        if isNew { logger.warning("\(source.description): \(error.message)") }
        fail(error)
    }

    /// Reports that the thread is alive.
    /// - Returns: false if it was given up meanwhile.
    private func proceed(to what: String) -> Bool { thread.proceed(to: "\(what) \(source.description)") }

    private func hasEnded() -> Bool {
        guard proceed(to: "closing") else { return true }
        return shared.withLock { state in
            if isWanted(&state) { return false }
            state.isRunning = false
            return true
        }
    }
}

/// Checks whether this device can measure its motion.
public struct MotionDoctor: Examined {
    private let sensor: IIOMotionSensor

    public init(_ sensor: IIOMotionSensor) { self.sensor = sensor }

    public func examine(thoroughly isThorough: Bool) async -> [Finding] { [await sensor.examine()] }
}
