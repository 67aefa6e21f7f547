internal import Concurrency
internal import Glibc
import JSON
import Linux
internal import QuickConnect

/// A recorded motion instead of a sensor: a JSON line for each moment, `{"time", "x", "y", "z"}` in seconds and g,
/// replayed repeatedly as if it were current. Lines that begin with anything else are skipped.
struct TrackSource: MotionSource {
    let path: String
    /// The owner's matrix.
    let matrix: Matrix?

    var description: String { "the simulated motion \(path)" }

    private static let mostBytes = 16 << 20

    func check() throws(CommandError) {
        guard !FileText.exists(path) else { return }
        throw CommandError(.unsupported, "\(description) is missing")
    }

    func open(rate: Double) throws(CommandError) -> any MotionStream {
        TrackStream(try track(), matrix ?? .identity, rate: rate, description)
    }

    func examine(_ goesOn: () -> Void) -> Finding {
        do throws(CommandError) {
            let track = try track()
            return Finding("motion", .ok, "\(description) lasts \(Duration.seconds(track.duration).words)")
        } catch {
            return Finding("motion", error)
        }
    }

    private func track() throws(CommandError) -> MotionTrack {
        switch FileText.read(path, maximumBytes: Self.mostBytes) {
        case .failure(let problem): throw CommandError(.unavailable, "\(description) \(problem.message)")
        case .success(let text):
            if let track = MotionTrack(text) { return track }
            throw CommandError(.unavailable, "\(description) has no motion in it")
        }
    }
}

/// The moments of a motion in order, at least two.
struct MotionTrack {
    private let moments: [(time: Double, value: Vector)]
    /// In seconds.
    var duration: Double { (moments.last?.time ?? 0) - (moments.first?.time ?? 0) }

    init?(_ text: String) {
        var moments: [(time: Double, value: Vector)] = []
        for line in text.split(separator: "\n") where line.hasPrefix("{") {
            guard let value = try? JSONParser.parse(String(line)), let members = value.objectValue else { return nil }
            let numbers = ["time", "x", "y", "z"].compactMap { members[$0]?.numberValue }
            guard numbers.count == 4, numbers[0] > moments.last?.time ?? -.infinity else { return nil }
            moments.append((numbers[0], Vector(numbers[1], numbers[2], numbers[3])))
        }
        guard moments.count > 1 else { return nil }
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

private final class TrackStream: MotionStream {
    let description: String
    let rate: Double
    private let track: MotionTrack
    private let matrix: Matrix
    private let start = ContinuousClock.now
    private var due = ContinuousClock.now

    init(_ track: MotionTrack, _ matrix: Matrix, rate: Double, _ description: String) {
        (self.track, self.matrix, self.rate, self.description) = (track, matrix, rate, description)
    }

    func next(_ waker: Waker, until end: ContinuousClock.Instant) throws(CommandError) -> Acceleration? {
        if ContinuousClock.now < due { _ = waker.sleep(until: min(due, end)) }
        let now = ContinuousClock.now
        guard now >= due else { return nil }
        due = max(due, now - .seconds(1 / rate)) + .seconds(1 / rate)
        let value = matrix * track.value(at: start.duration(to: now) / .seconds(1))
        let time = SensorTime(milliseconds: Self.milliseconds, clock: "realtime")
        return Acceleration(x: value.x, y: value.y, z: value.z, time: time)
    }

    /// Milliseconds since 1970.
    private static var milliseconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) * 1000 + (Double(time.tv_nsec) / 1000).rounded() / 1000
    }
}
