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
        do throws(Interruption) { return try Waker() } catch { throw Unreachable(reason: error.description) }
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

    /// The next complete report already received; nil if there is none.
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

/// Reads lines of gpsd, one after another, by libgps and without a connection. The owner of a `gps_data_t`.
final class LineUnpacker {
    let data: UnsafeMutablePointer<gps_data_t>

    init() throws(Unreachable) {
        guard let data = qc_gps_new() else { throw Unreachable(reason: "no memory") }
        self.data = data
    }

    deinit { qc_gps_delete(data) }

    /// What a line says; nil where libgps cannot read it.
    /// - Parameters:
    ///   - receiver: whom it comes from; nil: whom the line names.
    ///   - time: when it says it, in seconds since 1970; nil: as the line has it.
    func report(_ line: String, receiver: String?, at time: Double?) -> Report? {
        guard qc_gps_unpack(Self.plain(line), data) == 0 else { return nil }
        var report = qc_gps_report(data)
        if let time { report.time = time }
        return Report(report, receiver: receiver ?? String(cString: qc_gps_device(data)))
    }
}

extension LineUnpacker {
    /// A line as gpsd writes it: libgps wants the class first, and no space before it. Others write JSON otherwise.
    fileprivate static func plain(_ line: String) -> String {
        guard !line.hasPrefix(#"{"class":""#), let members = try? JSONParser.parse(line).objectValue,
            let name = members["class"]
        else { return line }
        var ordered: JSONObject = ["class": name]
        for (key, value) in members { ordered[key] = value }
        return JSONValue.object(ordered).text
    }
}

/// Lines out of what comes in pieces.
struct ReceivedLines {
    private var bytes: [UInt8] = []
    /// How much of the bytes holds no line break.
    private var searched = 0

    /// More than gpsd's longest line, which has some 10 KB.
    static let maxBytes = 1 << 16

    /// Takes what came.
    /// - Returns: false where it is more than a line can be.
    mutating func append(_ piece: ArraySlice<UInt8>) -> Bool {
        bytes += piece
        return bytes.count <= Self.maxBytes
    }

    /// The next whole line that is not empty, without its line break.
    mutating func next() -> String? {
        while let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: bytes[..<end], as: UTF8.self)
            bytes.removeSubrange(...end)
            searched = 0
            if line.utf8.contains(where: { $0 > 0x20 }) { return line }
        }
        searched = bytes.count
        return nil
    }
}
