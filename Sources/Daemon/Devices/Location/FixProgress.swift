internal import JSON
internal import Linux
internal import QuickConnect

/// How far a watch has got on its way to a fix, according to its reports. A value without clock or connection.
struct FixProgress: Sendable {
    /// The first thing that is missing. Clients depend on these names.
    enum Stage: String, Sendable {
        case unreachable
        /// gpsd accepts connections but sends nothing.
        case frozen
        case noReceiver
        /// The receiver sends nothing.
        case silent
        case noFix
        case stale
        /// There is a fix, but without altitude.
        case no3DFix
    }

    private(set) var stage = Stage.unreachable
    private var detail = ""
    private var mode = 0
    private var satellites: (seen: Int, used: Int)?
    private var age = 0.0
    /// The latest line that could not be read; nil if a fix came later.
    private var unreadable: String?

    mutating func lost(_ failure: PlainError) {
        let unreadable = unreadable
        self = FixProgress()
        detail = failure.description
        self.unreadable = unreadable
    }

    mutating func connected() {
        self = FixProgress()
        stage = .frozen
    }

    /// - Parameter now: the time in seconds since 1970.
    mutating func note(_ report: Report, at now: Double) {
        switch report {
        case .service: if stage == .frozen { stage = .silent }
        case .devices(0): stage = .noReceiver
        case .devices: if [.frozen, .noReceiver].contains(stage) { stage = .silent }
        case .sky(let seen, let used, _):
            satellites = (seen, used)
            noteData()
        case .otherData: noteData()
        case .fix(let fix): note(fix, at: now)
        case .unreadable(let line):
            unreadable = line
            if stage == .frozen { stage = .silent }
        }
    }

    /// The receiver sends something, so it is there.
    private mutating func noteData() {
        if [.frozen, .noReceiver, .silent].contains(stage) { stage = .noFix }
    }

    private mutating func note(_ fix: RawFix, at now: Double) {
        mode = fix.mode
        unreadable = nil
        guard let position = fix.position(source: "") else {
            stage = .noFix
            return
        }
        age = position.age(at: now)
        stage = abs(age) > PositionWish.freshness ? .stale : .no3DFix
    }

    /// The error for a caller whose wait failed.
    func error(_ code: CommandError.Code, _ source: String, after seconds: Double? = nil) -> CommandError {
        let time = seconds.map { " within \(Self.text($0)) s" } ?? ""
        var details: JSONObject = ["reason": .string(stage.rawValue), "mode": .integer(Int64(mode))]
        if let satellites {
            details["satellites"] = [
                "seen": .integer(Int64(satellites.seen)), "used": .integer(Int64(satellites.used)),
            ]
        }
        // Who waits less than a moment has found nothing out.
        if seconds ?? 1 < 1, unreadable == nil, detail.isEmpty, [.unreachable, .frozen, .silent].contains(stage) {
            return CommandError(code, "no position\(time): that is too short for \(source) to answer", details: details)
        }
        details["fix"] = fix.map(JSONValue.string)
        details["inspect"] = inspect.map(JSONValue.string)
        return CommandError(code, "no position\(time): \(sentence(source))", details: details)
    }

    func sentence(_ source: String) -> String {
        if let unreadable, [.unreachable, .silent, .noFix].contains(stage) {
            return Self.unreadable(source, unreadable)
        }
        return switch stage {
        case .unreachable: "\(source) cannot be reached: \(detail.isEmpty ? "it does not answer" : detail)"
        case .frozen: "\(source) accepts connections but says nothing; is it stopped?"
        case .noReceiver: "\(source) has no receiver"
        case .silent: "\(source) runs, but its receiver says nothing; is it plugged in, and is its speed right?"
        case .noFix: "the receiver has no fix yet\(sky); it needs a clear view of the sky"
        case .stale: staleness
        case .no3DFix: "the receiver has a fix without altitude\(sky)"
        }
    }

    static func unreadable(_ source: String, _ line: String) -> String {
        let start = String(String.UnicodeScalarView(line.unicodeScalars.prefix(100)))
        return "\(source) says something that this program does not understand: \(JSONValue.string(start).text)"
    }

    private var staleness: String {
        if age == .infinity { return "the receiver reports a position, but not its time" }
        if let weeks = weeksBehind {
            return """
                the receiver's fix is \(weeks) weeks old: its week counter has begun anew, which only newer software in \
                the receiver mends
                """
        }
        let hint = "is this device's clock right?"
        if age < 0 { return "the receiver's fix is \(Self.text(-age)) s in the future; \(hint)" }
        return "the receiver's fix is \(Self.text(age)) s old; \(hint)"
    }

    /// How far a receiver is behind whose week counter, of ten bits, has begun anew; nil if that is not why it is late.
    private var weeksBehind: Int? {
        let period = 1024.0 * 7 * 86_400
        let times = (age / period).rounded()
        return times >= 1 && abs(age - times * period) < 86_400 ? Int(times) * 1024 : nil
    }

    private var sky: String {
        satellites.map { ", with \($0.seen) satellites seen and \($0.used) used" } ?? ", and reports no satellites"
    }

    /// The command that fixes it; nil if none can.
    var fix: String? {
        switch stage {
        case .unreachable, .frozen: "sudo systemctl restart gpsd.socket gpsd"
        case .noReceiver: "sudo gpsdctl add /dev/ttyACM0"
        case .silent, .noFix, .no3DFix, .stale: nil
        }
    }

    /// The command that shows more, if none can fix it.
    var inspect: String? {
        switch stage {
        case .unreachable, .frozen, .noReceiver: nil
        case .silent: "gpspipe -w -n 10"
        case .stale where weeksBehind == nil: "timedatectl"
        case .noFix, .no3DFix, .stale: "cgps"
        }
    }

    private static func text(_ seconds: Double) -> String {
        seconds < 10 ? "\((seconds * 10).rounded() / 10)" : "\(Int64(min(seconds, 1e15)))"
    }
}

/// Chooses among several receivers of gpsd: it stays with one as long as that has a fix, so that the position does not
/// jump. A value without clock or connection.
struct ReceiverChoice: Sendable {
    /// The receiver that last had a fix.
    private var current: (receiver: String, fix: ContinuousClock.Instant)?
    private var satellites: [[UInt8]: Int] = [:]

    /// How long a receiver may be silent before another one replaces it.
    private static let timeout = Duration.seconds(PositionWish.freshness)
    /// More than gpsd can have, so that made-up names cannot use up memory.
    private static let maxReceivers = 16

    /// Whether a report counts. gpsd's own always do; those of a receiver do unless another one has a fix.
    /// - Parameters:
    ///   - instant: when it came.
    ///   - now: the same in seconds since 1970.
    mutating func admits(_ report: Report, at instant: ContinuousClock.Instant, now: Double) -> Bool {
        switch report {
        case .service, .devices, .otherData, .unreadable:
            return true
        case .sky(_, let used, let receiver):
            note(used, receiver)
            return !isTaken(from: receiver, at: instant)
        case .fix(let fix):
            guard !isTaken(from: fix.receiver, at: instant) else { return false }
            choose(fix, at: instant, now: now)
            return true
        }
    }

    /// How many satellites a receiver uses; nil if it has not reported that.
    func satellites(of receiver: String) -> Int? { satellites[Array(receiver.utf8)] }

    private mutating func note(_ used: Int, _ receiver: String) {
        if satellites.count >= Self.maxReceivers { satellites = [:] }
        satellites[Array(receiver.utf8)] = used > 0 ? used : nil
    }

    /// Whether another receiver has a fix.
    private func isTaken(from receiver: String, at instant: ContinuousClock.Instant) -> Bool {
        guard let current, !current.receiver.utf8.elementsEqual(receiver.utf8) else { return false }
        return current.fix.duration(to: instant) < Self.timeout
    }

    /// A receiver that has lost its fix, or reports an old one, does not prevent another one from being chosen.
    private mutating func choose(_ fix: RawFix, at instant: ContinuousClock.Instant, now: Double) {
        let age = fix.position(source: "")?.age(at: now)
        current = age.map { abs($0) <= PositionWish.freshness } == true ? (fix.receiver, instant) : nil
    }
}
