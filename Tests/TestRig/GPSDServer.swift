public import Foundation
import Synchronization

/// A gpsd of one test, on a port of its own, whose receiver the test plays by UDP datagrams.
///
/// It is killed with this object.
public final class GPSDServer: @unchecked Sendable {
    // Sendable because `process` is only replaced by `restart`, which a test calls while nothing else uses the server.
    private var process: ChildProcess
    private let folder: TestFolder
    public let port: Int
    private let feedPort: Int
    private let hasReceiver: Bool

    public static var isInstalled: Bool { ChildProcess.isInstalled("gpsd") }

    /// Starts a gpsd, and waits until it listens.
    /// - Parameter hasReceiver: whether it has one.
    public static func start(hasReceiver: Bool = true) async throws -> GPSDServer {
        let folder = try TestFolder()
        let (port, feedPort) = (try freePort(SOCK_STREAM), try freePort(SOCK_DGRAM))
        let process = try launch(folder, port, hasReceiver ? feedPort : nil)
        let server = GPSDServer(folder, process, port, feedPort, hasReceiver)
        try await server.awaitPort()
        return server
    }

    private init(_ folder: TestFolder, _ process: ChildProcess, _ port: Int, _ feedPort: Int, _ hasReceiver: Bool) {
        (self.folder, self.process, self.port, self.feedPort) = (folder, process, port, feedPort)
        self.hasReceiver = hasReceiver
    }

    private static func launch(_ folder: TestFolder, _ port: Int, _ feed: Int?) throws -> ChildProcess {
        let control = folder("control\(Int.random(in: 0..<1_000_000))")
        let arguments = ["-N", "-n", "-b", "-S", "\(port)", "-F", control]
        return try ChildProcess("gpsd", arguments + (feed.map { ["udp://127.0.0.1:\($0)"] } ?? []))
    }

    /// Sends it `SIGSTOP`, `SIGCONT` and so on.
    public func send(_ signal: Int32) { process.send(signal) }

    public func kill() async throws {
        process.send(SIGKILL)
        try await process.wait()
    }

    public func restart() async throws {
        process = try Self.launch(folder, port, hasReceiver ? feedPort : nil)
        try await awaitPort()
    }

    /// The receiver says these sentences, checksums being added.
    public func say(_ sentences: String...) {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        for sentence in sentences {
            let sum = sentence.utf8.reduce(0, ^)
            let line = Array("$\(sentence)*\(String(format: "%02X", sum))\r\n".utf8)
            withLoopback(feedPort) { _ = sendto(descriptor, line, line.count, 0, $0, $1) }
        }
    }

    /// How many clients are connected to it.
    public var clients: Int {
        ["tcp", "tcp6"].map { table in
            Self.connections(of: port, in: Self.contents("/proc/net/\(table)"))
        }.reduce(0, +)
    }

    /// Foundation takes a short read for the end of the file, and the kernel gives its tables in pieces.
    private static func contents(_ path: String) -> Data {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        var (table, piece) = (Data(), [UInt8](repeating: 0, count: 64 << 10))
        while case let count = read(descriptor, &piece, piece.count), count > 0 { table += piece[..<count] }
        return table
    }

    /// In /proc/net/tcp* a connection's own port is hexadecimal, the other end follows, and behind it 01 for one that is
    /// established. There may be ten thousands that other tests have closed, so lines are not taken apart.
    private static func connections(of port: Int, in table: Data) -> Int {
        let own = Data(String(format: ":%04X ", port).utf8)
        var (count, start) = (0, table.startIndex)
        while let found = table.range(of: own, in: start..<table.endIndex) {
            let next = String(decoding: table[found.upperBound...].prefix(50), as: UTF8.self).split(separator: " ")
            if next.count > 1, next[0].contains(":"), next[1] == "01" { count += 1 }
            start = found.upperBound
        }
        return count
    }

    private func awaitPort() async throws {
        try await eventually("gpsd listens") { [process, port] in
            if let exit = process.poll() { throw NotInTime(description: "gpsd ended: \(exit)") }
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            return withLoopback(port) { connect(descriptor, $0, $1) == 0 }
        }
    }

    private static let usedPorts = Mutex(0)

    /// A port that nobody uses at this moment, for programs that cannot tell which one the kernel gave them. It is one of this
    /// process's own hundred, below those that the kernel gives, so that nobody else comes before who is to use it.
    public static func freePort(_ type: __socket_type = SOCK_STREAM) throws -> Int {
        for _ in 0..<100 {
            let number = usedPorts.withLock { used in
                used += 1
                return used
            }
            let port = 10_000 + Int(getpid()) % 200 * 100 + number % 100
            let descriptor = socket(AF_INET, Int32(type.rawValue), 0)
            defer { close(descriptor) }
            if withLoopback(port, { bind(descriptor, $0, $1) == 0 }) { return port }
        }
        throw CocoaError(.fileWriteUnknown)
    }
}

/// Gives the loopback address with a port to a system call.
public func withLoopback<Result>(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
}

/// What a receiver says of one moment.
public struct NMEA: Sendable {
    public var latitude: Double
    public var longitude: Double
    public var altitude: Double?
    public var time = Date()

    public init(_ latitude: Double, _ longitude: Double, altitude: Double? = 50, time: Date = Date()) {
        (self.latitude, self.longitude, self.altitude, self.time) = (latitude, longitude, altitude, time)
    }

    /// The sentences RMC, GSA and GGA of a fix.
    public var fix: [String] {
        let place = "\(angle(latitude, 2, "N", "S")),\(angle(longitude, 3, "E", "W"))"
        let height = altitude.map { String(format: "%.1f", $0) } ?? ""
        return [
            "GPRMC,\(clock),A,\(place),0.50,90.0,\(day),,,A",
            "GPGSA,A,\(altitude == nil ? 2 : 3),01,02,03,04,05,06,,,,,,,1.8,1.0,1.5",
            "GPGGA,\(clock),\(place),1,06,1.0,\(height),M,\(altitude == nil ? "" : "-32.0"),M,,",
        ]
    }

    /// The same of a receiver that sees no satellites.
    public var noFix: [String] {
        [
            "GPRMC,\(clock),V,,,,,,,\(day),,,N", "GPGSA,A,1,,,,,,,,,,,,,99.9,99.9,99.9",
            "GPGGA,\(clock),,,,,0,00,99.9,,M,,M,,",
        ]
    }

    private func angle(_ value: Double, _ width: Int, _ positive: String, _ negative: String) -> String {
        let degrees = Int(abs(value))
        let minutes = String(format: "%08.5f", (abs(value) - Double(degrees)) * 60)
        return String(format: "%0\(width)d", degrees) + minutes + ",\(value < 0 ? negative : positive)"
    }

    private var clock: String {
        format("HHmmss")
            + String(format: ".%02d", Int(time.timeIntervalSince1970.truncatingRemainder(dividingBy: 1) * 100))
    }

    private var day: String { format("ddMMyy") }

    private func format(_ pattern: String) -> String {
        let formatter = DateFormatter()
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = pattern
        return formatter.string(from: time)
    }
}

extension GPSDServer {
    public func say(_ sentences: [String]) { for sentence in sentences { say(sentence) } }

    /// Lets the receiver say the same again and again, as long as the body runs.
    /// - Parameter sentences: of each epoch.
    public func saying<Value: Sendable>(
        each interval: Duration = .milliseconds(200),
        _ sentences: @escaping @Sendable () -> [String],
        while body: () async throws -> Value
    ) async throws -> Value {
        let feeder = Task {
            while !Task.isCancelled {
                say(sentences())
                // Sleeps as a receiver does.
                try await Task.sleep(for: interval)
            }
        }
        defer { feeder.cancel() }
        return try await body()
    }
}
