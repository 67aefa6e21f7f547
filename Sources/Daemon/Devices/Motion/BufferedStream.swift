import Concurrency
internal import Glibc
import Linux
internal import QuickConnect
internal import Synchronization

/// Why a buffer is not used.
struct BufferObstacle: Error, Sendable {
    var text: String
    /// Whether another program uses it.
    var isBusy = false
    /// It can be switched on, but gives nothing; when it is tried again.
    var silentUntil: ContinuousClock.Instant?
    var isSilent: Bool { silentUntil != nil }

    init(_ text: String, isBusy: Bool = false, silentUntil: ContinuousClock.Instant? = nil) {
        self.text = text
        self.isBusy = isBusy
        self.silentUntil = silentUntil
    }

    init(_ error: SystemCallError) { self.init(error.description, isBusy: error.code == EBUSY) }
}

/// Reads an accelerometer's values as they come from its buffer, which a trigger fills.
///
/// Switching it on requires write access to sysfs and read access to the device's file, which only root has, or users
/// that a udev rule allows (systemd/quickconnect.rules).
final class BufferedStream: MotionStream {
    let rate: Double
    private let sensor: Accelerometer
    private let conversion: Conversion
    private let file: OpenBuffer
    private let layout: ScanLayout
    private let clock: String
    private let silence: SilentBuffers
    private var bytes: [UInt8] = []
    /// When the buffer gave something, or was switched on.
    private var lastHeard = SuspendingClock.now

    /// How many samples the kernel keeps for a late reader.
    private static let length = 64
    private static let elements = "scan_elements"

    /// - Parameter silence: where a buffer that gives nothing is noted, and looked up.
    static func open(
        _ sensor: Accelerometer,
        _ conversion: Conversion,
        rate: Double,
        _ silence: SilentBuffers
    ) -> Result<BufferedStream, BufferObstacle> {
        Result { () throws(BufferObstacle) in
            if let obstacle = obstacle(of: sensor) ?? silence.obstacle(of: sensor) { throw obstacle }
            return try BufferedStream(sensor, conversion, rate: rate, silence)
        }
    }

    /// Why a sensor's buffer cannot be used, if that can be seen without changing anything.
    static func obstacle(of sensor: Accelerometer) -> BufferObstacle? {
        let folder = sensor.folder
        guard folder.has("\(elements)/in_accel_x_en"), folder.has("buffer/enable") else {
            return BufferObstacle("it has no buffer")
        }
        guard access(sensor.node, R_OK) == 0 else {
            return BufferObstacle("\(sensor.node): \(SystemCallError.text(errno))")
        }
        // A udev rule gives one file after the other.
        for name in ["buffer/enable"] + (ScanLayout.axisNames + [ScanLayout.timeName]).map({ "\(elements)/\($0)_en" })
        where folder.has(name) && !folder.mayWrite(name) {
            return BufferObstacle("\(name) may not be written: \(SystemCallError.text(errno))")
        }
        return Trigger(sensor).obstacle
    }

    private init(
        _ sensor: Accelerometer,
        _ conversion: Conversion,
        rate: Double,
        _ silence: SilentBuffers
    ) throws(BufferObstacle) {
        (self.sensor, self.conversion, self.silence) = (sensor, conversion, silence)
        do throws(SystemCallError) {
            // Opening is exclusive, so elements that are on now were left on by another program.
            file = try OpenBuffer(sensor)
            try file.disable()
            try Trigger(sensor).choose()
            self.rate = SamplingRate.set(rate, in: sensor.folder) ?? rate
            try Self.choose(ScanLayout.axisNames, in: sensor.folder)
            sensor.folder.writeIfPossible("\(Self.length)", to: "buffer/length")
            sensor.folder.writeIfPossible("1", to: "buffer/watermark")
        } catch {
            throw BufferObstacle(error)
        }
        guard let layout = ScanLayout(Self.chosen(in: sensor.folder)) else {
            throw BufferObstacle("its scan elements cannot be read")
        }
        self.layout = layout
        clock = sensor.folder.textIfAny("current_timestamp_clock") ?? "realtime"
        do throws(SystemCallError) { try file.enable() } catch { throw BufferObstacle(error) }
        lastHeard = .now
    }

    var description: String { "\(sensor.description), from its buffer, \(rate) a second" }

    /// A driver may take all that switches its buffer on, and never fill it. Then single values are read, if there are any.
    var isOutdated: Bool {
        guard isSilent, sensor.hasSingleValues(conversion) else { return false }
        silence.note(sensor)
        return true
    }

    func next(_ waker: Waker, until end: ContinuousClock.Instant) throws(CommandError) -> Acceleration? {
        if bytes.count < layout.size {
            // The time of a suspend is none in which the sensor could have given something.
            let left = patience - lastHeard.duration(to: .now)
            _ = waker.sleep(watching: file.descriptor, until: min(end, .now + left))
            // Always read: poll(2) does not report an unplugged device, but read(2) does.
            do throws(SystemCallError) { bytes += try file.read(layout.size * 16) } catch {
                throw CommandError(reading: sensor, error)
            }
        }
        guard bytes.count >= layout.size else {
            guard isSilent, !sensor.hasSingleValues(conversion) else { return nil }
            throw CommandError(.unavailable, "\(sensor.description) gives nothing: its buffer stays empty")
        }
        lastHeard = .now
        let (raw, nanoseconds) = layout.sample(bytes.prefix(layout.size))
        bytes.removeFirst(layout.size)
        let time = nanoseconds.map { SensorTime(milliseconds: Double($0) / 1e6, clock: clock) }
        return conversion.acceleration(raw, at: time)
    }

    private var isSilent: Bool { lastHeard.duration(to: .now) >= patience }

    /// Three values, and at least two seconds.
    private var patience: Duration { .seconds(max(2, 3 / rate)) }

    // MARK: Scan elements

    /// Switches these elements on, the timestamp if there is one, and all others off.
    private static func choose(_ names: [String], in folder: SysfsFolder) throws(SystemCallError) {
        for name in switches(in: folder) where !names.contains(name) && name != ScanLayout.timeName {
            folder.writeIfPossible("0", to: "\(elements)/\(name)_en")
        }
        for name in names { try folder.write("1", to: "\(elements)/\(name)_en") }
        folder.writeIfPossible("1", to: "\(elements)/\(ScanLayout.timeName)_en")
    }

    /// The elements that are on: some drivers switch on more than requested.
    private static func chosen(in folder: SysfsFolder) -> [ScanElement] {
        switches(in: folder).compactMap { name in
            guard folder.number(ofFirst: ["\(elements)/\(name)_en"]) == 1 else { return nil }
            guard let index = folder.number(ofFirst: ["\(elements)/\(name)_index"]).flatMap({ Int(exactly: $0) }),
                let type = folder.textIfAny("\(elements)/\(name)_type").flatMap({ ScanType($0) })
            else { return nil }
            return ScanElement(name: name, index: index, type: type)
        }
    }

    private static func switches(in folder: SysfsFolder) -> [String] {
        folder.names(in: elements).filter { $0.hasSuffix("_en") }.map { String($0.dropLast(3)) }
    }
}

/// The buffers that were on and gave nothing. Each is tried again after a while: a driver that fills it only when something
/// moves does so at other times.
final class SilentBuffers: Sendable {
    private let until = Mutex<[String: ContinuousClock.Instant]>([:])
    private static let pause = Duration.seconds(600)

    func note(_ sensor: Accelerometer) { until.withLock { $0[sensor.device] = .now + Self.pause } }

    func obstacle(of sensor: Accelerometer) -> BufferObstacle? {
        guard let end = until.withLock({ $0[sensor.device] }), .now < end else { return nil }
        return BufferObstacle("its buffer stayed empty", silentUntil: end)
    }
}

/// The owner of a buffer's file. The buffer is switched off with the last reference.
private final class OpenBuffer {
    let descriptor: Int32
    private let folder: SysfsFolder

    init(_ sensor: Accelerometer) throws(SystemCallError) {
        folder = sensor.folder
        descriptor = try SystemCallError.check("opening \(sensor.node)") {
            Glibc.open(sensor.node, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        }
    }

    deinit {
        folder.writeIfPossible("0", to: "buffer/enable")
        close(descriptor)
    }

    func enable() throws(SystemCallError) { try folder.write("1", to: "buffer/enable") }
    func disable() throws(SystemCallError) { try folder.write("0", to: "buffer/enable") }

    /// Reads what is there, at most that many bytes.
    func read(_ size: Int) throws(SystemCallError) -> ArraySlice<UInt8> {
        var bytes = [UInt8](repeating: 0, count: size)
        let count = Glibc.read(descriptor, &bytes, size)
        if count < 0, errno == EAGAIN || errno == EINTR { return [] }
        guard count > 0 else { throw SystemCallError("reading its buffer", count < 0 ? errno : ENODEV) }
        return bytes.prefix(count)
    }
}

/// The trigger that fills an accelerometer's buffer: the one that its driver has set, or one of its own. A buffer
/// without the attribute needs none.
struct Trigger {
    private let folder: SysfsFolder
    private let own: String?
    private let isNeeded: Bool

    init(_ sensor: Accelerometer) {
        folder = sensor.folder
        let current = folder.textIfAny("trigger/current_trigger")
        isNeeded = current.map { $0.isEmpty } ?? false
        own = isNeeded ? Self.own(of: sensor) : nil
    }

    var obstacle: BufferObstacle? {
        isNeeded && own == nil ? BufferObstacle("its buffer has no trigger") : nil
    }

    func choose() throws(SystemCallError) {
        guard isNeeded, let own else { return }
        try folder.write(own, to: "trigger/current_trigger")
    }

    /// Drivers name their triggers after the device, `NAME-dev0` or `NAME-any-motion-dev0`; the plain one fires for
    /// each new value, the others only for some.
    private static func own(of sensor: Accelerometer) -> String? {
        let number = sensor.device.drop { !$0.isNumber }
        let wanted = "\(sensor.name)-dev\(number)"
        let triggers = sensor.root.names().filter { $0.hasPrefix("trigger") }
        let names = triggers.compactMap { sensor.root.textIfAny("\($0)/name") }
        return names.first { $0 == wanted }
    }
}
