internal import Concurrency
internal import Glibc
public import QuickConnect

/// Looks at the way from the satellites to this device, link by link.
public struct LocationDoctor: Examined {
    private let source: any ReportSource
    private let isLocal: Bool

    /// Seconds that gpsd and its receiver have to say something: a receiver that slept needs two.
    private static let patience = 3.0

    public init(host: String, port: String) {
        source = GPSDSource(host: host, port: port)
        isLocal = ["localhost", "127.0.0.1", "::1"].contains(host)
    }

    public init(track: String) {
        source = TrackSource(path: track)
        isLocal = true
    }

    public func examine(thoroughly isThorough: Bool) async -> [Finding] {
        let promise = Promise<Finding>()
        let thread = WatchedThread(name: "qc-gpsd-dr", subject: "gpsd", deadline: .seconds(5))
        let job = WatchedThread.Job(
            step: "connecting to \(source.description)",
            work: { promise.fulfil(look(thread)) },
            giveUp: { promise.fulfil(Finding("location", $0, mend: Self.restart)) }
        )
        do throws(CommandError) {
            try thread.run(job)
            return [try await promise.value()]
        } catch {
            return [Finding("location", error)]
        }
    }

    private static let restart = "sudo systemctl restart gpsd.socket gpsd"

    private func look(_ thread: WatchedThread) -> Finding {
        var sight = Sight()
        var flat: Position?
        do throws(Unreachable) {
            let stream = try source.open()
            sight.connected()
            let end = ContinuousClock.now + .seconds(Self.patience)
            while ContinuousClock.now < end, thread.proceed(to: "listening to \(source.description)") {
                guard let report = try stream.next(milliseconds: 50) else { continue }
                sight.note(report, at: WallClock.now)
                guard case .fix(let fix) = report, let position = fix.position(source: source.name) else { continue }
                if sight.link == .stale { continue }
                if position.mode == 3 { return Finding("location", .well, sentence(position)) }
                flat = position
            }
        } catch {
            sight.lost(error)
        }
        if let flat { return Finding("location", .well, sentence(flat)) }
        if sight.link == .unreachable, isLocal, access("/usr/sbin/gpsd", X_OK) != 0 {
            let says = "\(sight.sentence(source.description)), and gpsd is not installed"
            return Finding("location", .note, says, mend: "sudo apt-get install gpsd")
        }
        return Finding(
            "location",
            .fault,
            sight.sentence(source.description),
            tried: [source.description],
            mend: sight.mend
        )
    }

    private func sentence(_ position: Position) -> String {
        let satellites = position.satellites.map { ", \($0) satellites" } ?? ""
        return "\(source.description) tells a \(position.mode)D fix\(satellites)"
    }
}
