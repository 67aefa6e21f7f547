internal import Concurrency
internal import Glibc
internal import Linux
package import QuickConnect

/// Checks each step from the satellites to this device.
package final class LocationDoctor: Examined {
    private let examination: WatchedExamination

    private static let restart = "sudo systemctl restart gpsd.socket gpsd"

    /// - Parameter program: the path of gpsd if it is installed on this device.
    package convenience init(host: String, port: String, program: String = "/usr/sbin/gpsd") {
        let isLocal = ["localhost", "127.0.0.1", "::1"].contains(host)
        self.init(GPSDSource(host: host, port: port), isLocal: isLocal, program: program)
    }

    package convenience init(simulated: SimulatedInput) {
        self.init(SimulatedReports(input: simulated), isLocal: true)
    }

    init(_ source: any ReportSource, isLocal: Bool, program: String = "/usr/sbin/gpsd") {
        let look = LocationLook(source: source, isLocal: isLocal, program: program)
        examination = WatchedExamination("location", of: source.description, thread: "qc-gps-dr", fix: Self.restart) {
            look.finding(on: $0)
        }
    }

    package func examine(thoroughly isThorough: Bool) async -> [Finding] { [await examination.finding()] }
}

/// One check.
private struct LocationLook {
    let source: any ReportSource
    let isLocal: Bool
    let program: String

    /// How long to wait for gpsd and its receiver: a receiver that slept needs two seconds.
    private static let timeout = Duration.seconds(3)

    func finding(on thread: WatchedThread) -> Finding {
        var progress = FixProgress()
        var position: Position?
        do throws(PlainError) {
            let stream = try source.open()
            progress.connected()
            position = try listen(to: stream, on: thread, &progress)
        } catch {
            progress.lost(error)
        }
        if let position { return Finding("location", .ok, sentence(position)) }
        let says = progress.sentence(source.description)
        if progress.stage == .unreachable, isLocal, access(program, X_OK) != 0 {
            return Finding("location", .warning, "\(says), and gpsd is not installed", fix: "sudo apt-get install gpsd")
        }
        let tried = [source.description]
        return Finding("location", .error, says, tried: tried, fix: progress.fix, inspect: progress.inspect)
    }

    /// - Returns: a fresh position with altitude as soon as there is one; at the end one without.
    private func listen(
        to stream: any ReportStream,
        on thread: WatchedThread,
        _ progress: inout FixProgress
    ) throws(PlainError) -> Position? {
        let waker = try Waker.forWatch()
        var receivers = ReceiverChoice()
        var flat: Position?
        let end = ContinuousClock.now + Self.timeout
        while ContinuousClock.now < end, thread.proceed(to: "listening to \(source.description)") {
            guard let report = try stream.next(waker, until: end) else { continue }
            let now = WallClock.now
            guard receivers.admits(report, at: .now, now: now) else { continue }
            progress.note(report, at: now)
            guard case .fix(let fix) = report, var position = fix.position(source: source.name) else { continue }
            if progress.stage == .stale { continue }
            position.satellites = receivers.satellites(of: fix.receiver)
            if position.mode == 3 { return position }
            flat = position
        }
        return flat
    }

    private func sentence(_ position: Position) -> String {
        let satellites = position.satellites.map { ", \($0) satellites" } ?? ""
        return "\(source.description) reports a \(position.mode)D fix\(satellites)"
    }
}
