internal import Concurrency
internal import Glibc
import JSON
import Linux
internal import QuickConnect

/// A simulated motion instead of a sensor: a tilt at which a person holds the device, or a recorded track, a JSON line for
/// each moment, `{"time", "x", "y", "z"}` in seconds and g, replayed repeatedly as if it were current. Lines that begin
/// with anything else are skipped.
struct SimulatedMotionSource: MotionSource {
    let input: SimulatedInput
    /// The owner's matrix, for tracks.
    let matrix: Matrix?

    var description: String {
        switch input.current.source {
        case .track(let path, _): "the simulated motion \(path)"
        case .held: "the simulated motion"
        }
    }

    private static let maxBytes = 16 << 20

    /// Why the file at a path is no track; nil if it is one. Blocks.
    static func mistake(_ path: String) -> String? {
        do throws(FileText.Problem) {
            _ = try MotionTrack(FileText.read(path, maximumBytes: maxBytes).get())
            return nil
        } catch { return error.message }
    }

    func check() throws(CommandError) {
        guard case .track(let path, _) = input.current.source, !FileText.exists(path) else { return }
        throw CommandError(.unsupported, "\(description) is missing")
    }

    func open(rate: Double) throws(CommandError) -> any MotionStream {
        let (source, changes) = input.current
        let isOutdated = { input.current.changes != changes }
        switch source {
        case .track(let path, _):
            let (track, matrix) = (try track(path), matrix ?? .identity)
            return SimulatedStream(rate: rate, description, isOutdated) { matrix * track.value(at: $0) }
        case .held(let numbers):
            let value = Vector(roll: numbers["roll"] ?? 0, pitch: numbers["pitch"] ?? 0)
            return SimulatedStream(rate: rate, "\(description), held by hand", isOutdated) { _ in value }
        }
    }

    func examine(_ goesOn: () -> Void) -> Finding {
        do throws(CommandError) {
            guard case .track(let path, _) = input.current.source else {
                return Finding("motion", .ok, "\(description) is held by hand, at \(input.json.text)")
            }
            return Finding("motion", .ok, "\(description) lasts \(Duration.seconds(try track(path).duration).words)")
        } catch {
            return Finding("motion", error)
        }
    }

    private func track(_ path: String) throws(CommandError) -> MotionTrack {
        do throws(FileText.Problem) {
            return try MotionTrack(FileText.read(path, maximumBytes: Self.maxBytes).get())
        } catch {
            throw CommandError(.unavailable, "\(description) \(error.message)")
        }
    }
}

extension SIMD3<Double> {
    /// What a device at rest measures, in g, along x (to the right), y (to the top) and z (out of the screen).
    fileprivate init(roll: Double, pitch: Double) {
        let (roll, pitch) = (roll * .pi / 180, pitch * .pi / 180)
        self.init(sin(roll) * cos(pitch), sin(pitch), cos(roll) * cos(pitch))
    }
}

/// The moments of a motion in order, at least two.
struct MotionTrack {
    private let moments: [(time: Double, value: Vector)]
    private static let form = #"{"time": 0.25, "x": 0, "y": 0, "z": 1}"#
    /// In seconds.
    var duration: Double { (moments.last?.time ?? 0) - (moments.first?.time ?? 0) }

    init(_ text: String) throws(FileText.Problem) {
        var moments: [(time: Double, value: Vector)] = []
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (number, line) in zip(1..., lines) where line.hasPrefix("{") {
            let members = (try? JSONParser.parse(String(line)))?.objectValue
            let numbers = ["time", "x", "y", "z"].compactMap { members?[$0]?.numberValue }.filter { abs($0) < 1e15 }
            guard numbers.count == 4 else {
                throw FileText.Problem(message: "has no moment in line \(number): it needs \(Self.form), below 1e15")
            }
            guard numbers[0] > moments.last?.time ?? -.infinity else {
                throw FileText.Problem(message: "has a time in line \(number) that is not later than the one before")
            }
            moments.append((numbers[0], Vector(numbers[1], numbers[2], numbers[3])))
        }
        guard moments.count > 1 else {
            throw FileText.Problem(message: "has no motion in it: it needs two lines or more such as \(Self.form)")
        }
        self.moments = moments
    }

    /// The value that many seconds after the beginning or the last repetition, interpolated linearly between two
    /// moments.
    func value(at seconds: Double) -> Vector {
        let first = moments[0].time
        let time = first + seconds.truncatingRemainder(dividingBy: duration)
        let next = moments.firstIndex { $0.time >= time } ?? moments.count - 1
        let (after, before) = (moments[next], moments[max(0, next - 1)])
        guard after.time > before.time else { return after.value }
        let share = (time - before.time) / (after.time - before.time)
        return before.value + (after.value - before.value) * share
    }
}

private final class SimulatedStream: MotionStream {
    let description: String
    let rate: Double
    private let change: () -> Bool
    private let value: (_ seconds: Double) -> Vector
    private let start = ContinuousClock.now
    private var due = ContinuousClock.now

    /// - Parameters:
    ///   - isOutdated: whether the input has been moved since.
    ///   - value: what is measured so many seconds after the start.
    init(
        rate: Double,
        _ description: String,
        _ isOutdated: @escaping () -> Bool,
        value: @escaping (_ seconds: Double) -> Vector
    ) {
        (self.rate, self.description, self.value, change) = (rate, description, value, isOutdated)
    }

    var isOutdated: Bool { change() }

    func next(_ waker: Waker, until end: ContinuousClock.Instant) throws(CommandError) -> Acceleration? {
        if ContinuousClock.now < due { _ = waker.sleep(until: min(due, end)) }
        let now = ContinuousClock.now
        guard now >= due else { return nil }
        due = max(due, now - .seconds(1 / rate)) + .seconds(1 / rate)
        let value = value(start.duration(to: now) / .seconds(1))
        let time = SensorTime(milliseconds: (WallClock.now * 1e6).rounded() / 1000, clock: "realtime")
        return Acceleration(x: value.x, y: value.y, z: value.z, time: time)
    }
}
