package import Concurrency
package import JSON
package import Logging
package import QuickConnect
internal import Synchronization

/// The accelerometer of this device, through the kernel's IIO subsystem, or a recorded motion.
///
/// All callers and subscribers share one sensor, which is on only while there are any (``SharedSource``).
package final class IIOMotionSensor: MotionSensor, SharedSource, Examined {
    private struct State {
        /// Whether the sensor was there once; then it may come back.
        var wasThere = false
        /// Whether it was told that it is read in a worse way than it promises. Its buffer is tried again each ten minutes.
        var isToldWorse = false
        /// Which sensor is used and how it is read, while it is on.
        var way: (says: String, state: Finding.State)?
    }

    private let source: any MotionSource
    private let logger: Logger
    package let examination: WatchedExamination
    package let sharing: Sharing<Void, Acceleration>
    private let shared = Mutex(State())

    /// The event `accel`; see ``AccelerationEvent``.
    package let event = AccelerationEvent()

    /// - Parameters:
    ///   - device: the IIO device to use, by its name or as `iio:device0`; nil: the first that is an accelerometer.
    ///   - matrix: applied to the sensor's values after its own mount matrix.
    ///   - logger: gets a line when the sensor is lost, and when it is back.
    package convenience init(device: String?, matrix: Matrix?, logger: Logger) {
        let source = IIOSource(
            named: device,
            matrix: matrix,
            root: "/sys/bus/iio/devices",
            nodes: "/dev",
            database: "/run/udev/data"
        )
        self.init(source, logger: logger)
    }

    /// A sensor that measures what a person or a track says.
    /// - Parameter simulated: see ``tilt(track:)``.
    package convenience init(simulated: SimulatedInput, matrix: Matrix?, logger: Logger) {
        self.init(SimulatedMotionSource(input: simulated, matrix: matrix), logger: logger)
        simulated.whenChanged { [weak self] in self?.sharing.wake() }
    }

    /// How the simulated device is tilted: `roll`, by which its right edge is higher than its left one, and `pitch`, by
    /// which its top edge is higher than its bottom one, in degrees. At 0 and 0 it lies with its screen up.
    /// - Parameter track: a file of JSON lines, replayed as if they were current.
    package static func tilt(track: String) -> SimulatedInput {
        SimulatedInput(
            "tilt",
            [.init("roll", in: -180...180, "degrees"), .init("pitch", in: -180...180, "degrees")],
            track: track,
            mistake: SimulatedMotionSource.mistake
        )
    }

    /// - Parameter deadline: how long a call of the sensor's driver may take.
    init(_ source: any MotionSource, deadline: Duration = .seconds(5), logger: Logger) {
        self.source = source
        self.logger = logger
        sharing = Sharing(
            source.description,
            opening: "opening",
            closing: "closing",
            thread: "qc-motion",
            deadline: deadline
        )
        examination = WatchedExamination("motion", of: source.description, thread: "qc-iio-dr", deadline: deadline) {
            thread in
            source.examine { _ = thread.proceed(to: "reading \(source.description)") }
        }
        event.setSensor(self)
    }

    package func acceleration(for caller: Caller) async throws(CommandError) -> Acceleration {
        try check()
        return try await answer((), for: caller)
    }

    /// Throws `unsupported` if there is no sensor, `unavailable` if there was one.
    func check() throws(CommandError) {
        do throws(CommandError) { try source.check() } catch {
            guard shared.withLock({ $0.wasThere }) else { throw error }
            throw CommandError(.unavailable, "\(source.description) went away: \(error.message)")
        }
    }

    /// `"measuring"`: the callers that wait for a value. Subscribers are listed under `"watched"`.
    package func state() -> JSONObject {
        ["measuring": .array(sharing.wishes.map { ["for": $0.caller.json] })]
    }

    package func examine(thoroughly isThorough: Bool) async -> [Finding] { [await examine()] }

    /// A sensor in use works, so it is not checked meanwhile: many drivers refuse other readers then.
    func examine() async -> Finding {
        if let way = shared.withLock({ $0.way }) { return Finding("motion", way.state, "\(way.says), is being read") }
        return await examination.finding()
    }

    private var wantedRate: Double {
        guard let rate = event.fastestRate else { return AccelerationEvent.defaultRate }
        // The next value of a slow subscriber may come after the end of a call's time.
        return rate < 1 && !sharing.wishes.isEmpty ? AccelerationEvent.defaultRate : rate
    }

    package var hasSubscribers: Bool { event.fastestRate != nil }

    /// Delivers values until nobody wants any, another rate is wanted, or there is a better way to read them.
    package func read(_ waker: Waker) throws(CommandError) {
        let rate = wantedRate
        let stream = try source.open(rate: rate)
        found(stream)
        defer { shared.withLock { $0.way = nil } }
        while isWanted, wantedRate == rate, proceed(to: "reading") {
            // What measures from now on is told at once.
            guard !stream.isOutdated else { return event.restartPace() }
            if let value = try stream.next(waker, until: .now + Sharing<Void, Acceleration>.maxSleep) {
                take(value, stream.rate)
            }
        }
    }

    private func take(_ value: Acceleration, _ rate: Double) {
        sharing.settle { value }
        event.publish(value, rate: rate)
    }

    private func found(_ stream: any MotionStream) {
        let state: Finding.State = stream.isWorse ? .warning : .ok
        let isNews = shared.withLock { shared in
            (shared.wasThere, shared.way) = (true, (stream.description, state))
            guard stream.isWorse, !shared.isToldWorse else { return false }
            shared.isToldWorse = true
            return true
        }
        if sharing.found() {
            logger.notice("\(source.description) is back: \(stream.description)")
        } else if isNews {
            logger.warning("\(stream.description)")
        } else {
            logger.debug("\(stream.description)")
        }
    }

    package func lost(_ error: CommandError, isNew: Bool) {
        shared.withLock { $0.isToldWorse = false }
        if isNew { logger.warning("\(source.description): \(error.message)") }
    }
}
