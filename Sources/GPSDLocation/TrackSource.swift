internal import Glibc
import Linux

/// A recorded track instead of a receiver: gpsd's own lines, one per second, replayed as if they were current.
struct TrackSource: ReportSource {
    let path: String
    let name = "simulated"
    var description: String { "the simulated track \(path)" }

    func open() throws(Unreachable) -> any ReportStream { try TrackStream(path: path) }
}

private final class TrackStream: ReportStream, @unchecked Sendable {
    // Sendable because one thread at a time uses it.
    private let unpacker: LineUnpacker
    private let path: String
    private let lines: [String]
    private var greetings: [Report] = [.devices(1), .service]
    private var latest = Int.min

    init(path: String) throws(Unreachable) {
        guard let text = Self.text(of: path) else {
            throw Unreachable(reason: "fopen: \(SystemCallError.text(errno)) (\(errno))")
        }
        lines = text.split(separator: "\n").filter { $0.hasPrefix("{") }.map(String.init)
        guard !lines.isEmpty else { throw Unreachable(reason: "there is no track in it") }
        unpacker = try LineUnpacker()
        self.path = path
    }

    func next(_ waker: Waker, until end: ContinuousClock.Instant?) throws(Unreachable) -> Report? {
        if let greeting = greetings.popLast() { return greeting }
        var now = WallClock.now
        if Int(now) == latest {
            let nextSecond = ContinuousClock.now + .seconds(Double(latest) + 1 - now)
            _ = waker.sleep(until: end.map { min($0, nextSecond) } ?? nextSecond)
            now = WallClock.now
        }
        guard Int(now) != latest else { return nil }
        latest = Int(now)
        return report(at: now)
    }

    /// The line for this second; the track is played forward and backward forever.
    private func report(at now: Double) -> Report {
        let step = Int(now) % max(1, 2 * lines.count - 2)
        let line = lines[step < lines.count ? step : 2 * lines.count - 2 - step]
        return unpacker.report(line, receiver: path, at: now) ?? .service
    }

    private static func text(of path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
