internal import CGPS
internal import Glibc
internal import Linux

/// A source of reports.
protocol ReportSource: Sendable {
    /// The `source` of positions from here.
    var name: String { get }
    /// Such as `gpsd on localhost:2947`.
    var description: String { get }

    /// Starts a watch. Blocks, perhaps for long: only on a watched thread.
    func open() throws(Unreachable) -> any ReportStream
}

/// A running watch. It ends with the last reference. Used by one thread at a time.
protocol ReportStream: AnyObject, Sendable {
    /// Sleeps until the next report. Does not block otherwise.
    /// - Returns: nil if the waker was used or the time came.
    func next(_ waker: Waker, until end: ContinuousClock.Instant?) throws(Unreachable) -> Report?
}

/// Why there is no watch.
struct Unreachable: Error, Sendable {
    let reason: String
}

extension Waker {
    /// A waker for the thread of a watch.
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

/// The owner of an open `gps_data_t`.
private final class GPSDStream: ReportStream, @unchecked Sendable {
    // Sendable because one thread at a time uses it.
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

    func next(_ waker: Waker, until end: ContinuousClock.Instant?) throws(Unreachable) -> Report? {
        // Several may have come at once.
        if let report = try read() { return report }
        guard waker.sleep(watching: qc_gps_descriptor(data), until: end) else { return nil }
        let report = try read()
        if report == nil, isAtEnd { throw closed }
        return report
    }

    /// The next complete report already received; nil if there is none.
    private func read() throws(Unreachable) -> Report? {
        let count = qc_gps_read(data, &buffer, Int32(buffer.count))
        guard count >= 0 else { throw closed }
        return count > 0 ? Report(qc_gps_report(data), receiver: String(cString: qc_gps_device(data))) : nil
    }

    private var closed: Unreachable { Unreachable(reason: "gps_read: it closed the connection") }

    /// Whether the connection has ended, even if a part of a report came.
    private var isAtEnd: Bool {
        var byte: UInt8 = 0
        return recv(qc_gps_descriptor(data), &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0
    }
}
