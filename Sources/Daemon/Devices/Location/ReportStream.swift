internal import CGPS
internal import Concurrency
internal import Glibc
internal import JSON
internal import Linux

/// A source of reports.
protocol ReportSource: Sendable {
    /// The `source` of positions from here.
    var name: String { get }
    /// Such as `gpsd on localhost:2947`.
    var description: String { get }

    /// Starts a watch. Blocks, perhaps for long: only on a watched thread.
    func open() throws(PlainError) -> any ReportStream
}

/// A running watch. It ends with the last reference. Used by one thread at a time.
protocol ReportStream: AnyObject, Sendable {
    /// Sleeps until the next report. Does not block otherwise.
    /// - Returns: nil if the waker was used or the time came.
    func next(_ waker: Waker, until end: ContinuousClock.Instant?) throws(PlainError) -> Report?
}

extension Waker {
    /// A waker for the thread of a watch.
    static func forWatch() throws(PlainError) -> Waker {
        do throws(Interruption) { return try Waker() } catch { throw PlainError(error.description) }
    }
}

/// gpsd, through libgps.
struct GPSDSource: ReportSource {
    let host: String
    let port: String
    let name = "gpsd"
    var description: String { "gpsd on \(host):\(port)" }

    func open() throws(PlainError) -> any ReportStream { try GPSDStream(host: host, port: port) }
}

/// A connection to gpsd. libgps opens it; its lines are read here, since `gps_read` never returns from some of them.
private final class GPSDStream: ReportStream, @unchecked Sendable {
    // Sendable because one thread at a time uses it.
    private let unpacker: LineUnpacker
    /// gpsd's longest line has some 10 KB.
    private var splitter = LineSplitter(limit: 1 << 16)
    private var buffer = [UInt8](repeating: 0, count: 10_240)
    /// What has been received and not been asked for yet, the latest first.
    private var reports: [Report] = []

    init(host: String, port: String) throws(PlainError) {
        let unpacker = try LineUnpacker()
        let code = qc_gps_open(host, port, unpacker.data)
        guard code == 0 else { throw PlainError("gps_open: \(String(cString: gps_errstr(code))) (\(code))") }
        self.unpacker = unpacker
        guard qc_gps_watch(unpacker.data) == 0 else { throw PlainError("gps_stream: it closed the connection") }
    }

    deinit { qc_gps_close(unpacker.data) }

    func next(_ waker: Waker, until end: ContinuousClock.Instant?) throws(PlainError) -> Report? {
        if let report = reports.popLast() { return report }
        guard waker.sleep(watching: qc_gps_descriptor(unpacker.data), until: end) else { return nil }
        try receive()
        return reports.popLast()
    }

    private func receive() throws(PlainError) {
        let count = recv(qc_gps_descriptor(unpacker.data), &buffer, buffer.count, Int32(MSG_DONTWAIT))
        guard count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR) else {
            throw PlainError("recv: it closed the connection")
        }
        buffer.withUnsafeBufferPointer { bytes in
            splitter.split(UnsafeBufferPointer(rebasing: bytes.prefix(max(0, count)))) { line in
                switch line {
                case .line(let line):
                    guard line.contains(where: { $0 > 0x20 }) else { return }
                    reports.append(unpacker.report(String(decoding: line, as: UTF8.self), receiver: nil, at: nil))
                case .overlong(let start): reports.append(.unreadable(String(decoding: start, as: UTF8.self)))
                }
            }
        }
        reports.reverse()
    }
}

/// Reads lines of gpsd, one after another, by libgps and without a connection. The owner of a `gps_data_t`.
final class LineUnpacker {
    let data: UnsafeMutablePointer<gps_data_t>

    init() throws(PlainError) {
        guard let data = qc_gps_new() else { throw PlainError("no memory") }
        self.data = data
    }

    deinit { qc_gps_delete(data) }

    /// What a line says.
    /// - Parameters:
    ///   - receiver: whom it comes from; nil: whom the line names.
    ///   - time: when it says it, in seconds since 1970; nil: as the line has it.
    func report(_ line: String, receiver: String?, at time: Double?) -> Report {
        let members = (try? JSONParser.parse(line))?.objectValue
        guard qc_gps_unpack(members.map(Self.plain) ?? line, data) == 0 else {
            // gpsd may be newer than libgps, and have classes that libgps does not know.
            return [nil, "TPV"].contains(members?["class"]) ? .unreadable(line) : .service
        }
        var report = qc_gps_report(data)
        if let time { report.time = time }
        return Report(report, receiver: receiver ?? String(cString: qc_gps_device(data)))
    }

    /// A line as gpsd writes it. Others write JSON otherwise, and libgps wants the class first, no space, no escape in a name
    /// and no null. It reads another time than gpsd's, in UTC, as a wrong one.
    private static func plain(_ members: JSONObject) -> String {
        var plain: JSONObject = ["class": members["class"] ?? .null]
        for (name, value) in members where value != .null && (name != "time" || isTime(value)) { plain[name] = value }
        return JSONValue.object(plain).text
    }

    /// Whether it is `2026-11-28T10:42:23Z`, perhaps with a fraction.
    private static func isTime(_ value: JSONValue) -> Bool {
        guard let text = value.stringValue, text.utf8.count >= 20 else { return false }
        return text.utf8.dropFirst(10).first == UInt8(ascii: "T") && text.utf8.last == UInt8(ascii: "Z")
    }
}
