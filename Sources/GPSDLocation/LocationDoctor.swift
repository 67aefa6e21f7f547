internal import Concurrency
internal import Glibc
internal import Linux
public import QuickConnect
internal import Synchronization

/// Looks at the way from the satellites to this device, link by link.
///
/// On a thread that is made once; those who ask while it looks share what it finds.
public final class LocationDoctor: Examined {
    private let source: any ReportSource
    private let isLocal: Bool
    private let program: String
    private let thread = WatchedThread(name: "qc-gps-dr", subject: "gpsd", deadline: .seconds(5))
    /// Those who wait for the look that is under way.
    private let waiting = Mutex<[Promise<Finding>]>([])

    /// How long gpsd and its receiver have to say something: a receiver that slept needs two seconds.
    private static let patience = Duration.seconds(3)
    private static let restart = "sudo systemctl restart gpsd.socket gpsd"

    /// - Parameter program: where gpsd lies when it is installed on this device.
    public convenience init(host: String, port: String, program: String = "/usr/sbin/gpsd") {
        let isLocal = ["localhost", "127.0.0.1", "::1"].contains(host)
        self.init(GPSDSource(host: host, port: port), isLocal: isLocal, program: program)
    }

    public convenience init(track: String) { self.init(TrackSource(path: track), isLocal: true) }

    init(_ source: any ReportSource, isLocal: Bool, program: String = "/usr/sbin/gpsd") {
        self.source = source
        self.isLocal = isLocal
        self.program = program
    }

    public func examine(thoroughly isThorough: Bool) async -> [Finding] {
        let promise = Promise<Finding>()
        let isFirst = waiting.withLock { waiting in
            waiting.append(promise)
            return waiting.count == 1
        }
        if isFirst { begin() }
        do throws(CommandError) { return [try await promise.value()] } catch { return [Finding("location", error)] }
    }

    private func begin() {
        let job = WatchedThread.Job(
            step: "connecting to \(source.description)",
            work: { self.tell(self.look()) },
            giveUp: { self.tell(Finding("location", $0, mend: Self.restart)) }
        )
        do throws(CommandError) { try thread.run(job) } catch {
            tell(Finding("location", error, mend: Self.restart))
        }
    }

    private func tell(_ finding: Finding) {
        let waiting = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for promise in waiting { promise.fulfil(finding) }
    }

    private func look() -> Finding {
        var progress = FixProgress()
        var position: Position?
        do throws(Unreachable) {
            let stream = try source.open()
            progress.connected()
            position = try listen(to: stream, &progress)
        } catch {
            progress.lost(error)
        }
        if let position { return Finding("location", .well, sentence(position)) }
        let says = progress.sentence(source.description)
        if progress.stage == .unreachable, isLocal, access(program, X_OK) != 0 {
            return Finding("location", .note, "\(says), and gpsd is not installed", mend: "sudo apt-get install gpsd")
        }
        return Finding("location", .fault, says, tried: [source.description], mend: progress.mend)
    }

    /// - Returns: a fresh position as soon as there is one with altitude, at the end one without.
    private func listen(to stream: any ReportStream, _ progress: inout FixProgress) throws(Unreachable) -> Position? {
        let waker = try Waker.forWatch()
        var receivers = ReceiverChoice()
        var flat: Position?
        let end = ContinuousClock.now + Self.patience
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
