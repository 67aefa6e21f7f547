internal import CGPS
internal import Glibc
internal import Linux

/// Where reports come from.
protocol ReportSource: Sendable {
    /// What a position from here has as its source.
    var name: String { get }
    /// Such as `gpsd on localhost:2947`.
    var description: String { get }

    /// Begins a watch. Blocks, perhaps for long: only on a thread that is watched.
    func open() throws(Unreachable) -> any ReportStream
}

/// A watch that has begun. It ends with the last reference. One thread at a time uses it.
protocol ReportStream: AnyObject, Sendable {
    /// Sleeps until the next report. Never blocks in any other way.
    /// - Returns: nil where somebody used the waker, or the time came.
    func next(_ waker: Waker, until end: ContinuousClock.Instant?) throws(Unreachable) -> Report?
}

/// Why there is no watch.
struct Unreachable: Error, Sendable {
    let reason: String
}

extension Waker {
    /// One for the thread of a watch.
    static func forWatch() throws(Unreachable) -> Waker {
        do throws(SystemCallError) { return try Waker() } catch { throw Unreachable(reason: "\(error)") }
    }
}

/// gpsd, through libgps.
struct GPSDSource: ReportSource {
    let host: String
    let port: String
    let name = "gpsd"
    var description: String { "gpsd on \(host):\(port)" }

    func open() throws(Unreachable) -> any ReportStream { try GPSDStream(host: host, port: port) }
}

/// A connection to gpsd. libgps opens it; its lines are read here, since `gps_read` never returns from some of them.
private final class GPSDStream: ReportStream, @unchecked Sendable {
    // Sendable because one thread at a time uses it.
    private let unpacker: LineUnpacker
    private var lines = ReceivedLines()
    private var buffer = [UInt8](repeating: 0, count: 10_240)

    init(host: String, port: String) throws(Unreachable) {
        let unpacker = try LineUnpacker()
        let code = qc_gps_open(host, port, unpacker.data)
        guard code == 0 else {
            throw Unreachable(reason: "gps_open: \(String(cString: gps_errstr(code))) (\(code))")
        }
        self.unpacker = unpacker
        guard qc_gps_watch(unpacker.data) == 0 else {
            throw Unreachable(reason: "gps_stream: it closed the connection")
        }
    }

    deinit { qc_gps_close(unpacker.data) }

    func next(_ waker: Waker, until end: ContinuousClock.Instant?) throws(Unreachable) -> Report? {
        // Several may have come at once.
        if let report = try read() { return report }
        guard waker.sleep(watching: qc_gps_descriptor(unpacker.data), until: end) else { return nil }
        return try read()
    }

    /// The next whole report of what has come; nil where there is none.
    private func read() throws(Unreachable) -> Report? {
        while true {
            // A line that is no report shows all the same that somebody is there.
            if let line = lines.next() { return unpacker.report(line, receiver: nil, at: nil) ?? .service }
            guard try receive() else { return nil }
        }
    }

    /// - Returns: whether something came.
    private func receive() throws(Unreachable) -> Bool {
        let count = recv(qc_gps_descriptor(unpacker.data), &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 {
            guard lines.append(buffer[..<count]) else { throw Unreachable(reason: "it sends a line without end") }
            return true
        }
        guard count < 0, errno == EAGAIN || errno == EINTR else {
            throw Unreachable(reason: "recv: it closed the connection")
        }
        return false
    }
}
