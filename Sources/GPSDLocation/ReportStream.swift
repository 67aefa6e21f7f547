internal import CGPS
internal import Glibc

/// Where reports come from.
protocol ReportSource: Sendable {
    /// What a position from here has as its source.
    var name: String { get }
    /// Such as `gpsd on localhost:2947`.
    var description: String { get }

    /// Begins a watch. Blocks, perhaps for long: only on a thread that is watched.
    func open() throws(Unreachable) -> any ReportStream
}

/// A watch that has begun. It ends with the last reference.
protocol ReportStream: AnyObject {
    /// The next report; nil where none came in the time.
    func next(milliseconds: Int32) throws(Unreachable) -> Report?
}

/// Why there is no watch.
struct Unreachable: Error, Sendable {
    let reason: String
}

/// gpsd, through libgps.
struct GPSDSource: ReportSource {
    let host: String
    let port: String
    let name = "gpsd"
    var description: String { "gpsd on \(host):\(port)" }

    func open() throws(Unreachable) -> any ReportStream { try GPSDStream(host: host, port: port) }
}

/// The owner of a `gps_data_t` that is open.
private final class GPSDStream: ReportStream {
    private let data: UnsafeMutablePointer<gps_data_t>
    private var buffer = [CChar](repeating: 0, count: 10_240)

    init(host: String, port: String) throws(Unreachable) {
        guard let data = qc_gps_new() else { throw Unreachable(reason: "no memory") }
        let code = qc_gps_open(host, port, data)
        guard code == 0 else {
            qc_gps_delete(data)
            throw Unreachable(reason: "gps_open: \(String(cString: gps_errstr(code))) (\(code))")
        }
        self.data = data
        guard qc_gps_watch(data) == 0 else { throw Unreachable(reason: "gps_stream: it closed the connection") }
    }

    deinit {
        qc_gps_close(data)
        qc_gps_delete(data)
    }

    func next(milliseconds: Int32) throws(Unreachable) -> Report? {
        guard gps_waiting(data, milliseconds * 1000) else { return nil }
        let count = gps_read(data, &buffer, Int32(buffer.count))
        guard count >= 0 else { throw Unreachable(reason: "gps_read: it closed the connection") }
        return count > 0 ? Report(qc_gps_report(data)) : nil
    }
}

/// A recorded track in place of a receiver: gpsd's own lines, one a second, told as if they were of now.
struct TrackSource: ReportSource {
    let path: String
    let name = "simulated"
    var description: String { "the simulated track \(path)" }

    func open() throws(Unreachable) -> any ReportStream { try TrackStream(path: path) }
}

private final class TrackStream: ReportStream {
    private let data: UnsafeMutablePointer<gps_data_t>
    private let lines: [String]
    private var greetings: [Report] = [.devices(1), .version]
    private var latest = Int.min

    init(path: String) throws(Unreachable) {
        guard let text = Self.text(of: path) else { throw Unreachable(reason: String(cString: strerror(errno))) }
        lines = text.split(separator: "\n").filter { $0.hasPrefix("{") }.map(String.init)
        guard !lines.isEmpty else { throw Unreachable(reason: "there is no track in it") }
        guard let data = qc_gps_new() else { throw Unreachable(reason: "no memory") }
        self.data = data
    }

    deinit { qc_gps_delete(data) }

    func next(milliseconds: Int32) throws(Unreachable) -> Report? {
        if let greeting = greetings.popLast() { return greeting }
        let now = WallClock.now
        guard Int(now) > latest else {
            usleep(UInt32(milliseconds) * 1000)
            return nil
        }
        latest = Int(now)
        return report(at: now)
    }

    /// The line for this second, there and back again for ever.
    private func report(at now: Double) -> Report {
        let step = Int(now) % max(1, 2 * lines.count - 2)
        var bytes = lines[step < lines.count ? step : 2 * lines.count - 2 - step].utf8CString.map { $0 }
        guard gps_unpack(&bytes, data) == 0 else { return .other }
        var report = qc_gps_report(data)
        report.time = now
        return Report(report)
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

/// The time of day, which fixes are compared with.
enum WallClock {
    /// Seconds since 1970.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
