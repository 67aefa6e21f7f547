internal import JSON
internal import QuickConnect

/// How far the way from the satellites to the caller is open, as the reports of one watch show. A value without clock
/// or connection.
struct Sight: Sendable {
    /// The first link that is broken.
    enum Link: String, Sendable {
        case unreachable
        /// gpsd takes connections and says nothing.
        case frozen
        case noReceiver
        /// The receiver says nothing.
        case silent
        case noFix
        case stale
        /// There is a fix, and it has no altitude.
        case no3DFix
    }

    private(set) var link = Link.unreachable
    private var detail = ""
    private var mode = 0
    private var satellites: (seen: Int, used: Int)?
    private var age = 0.0

    mutating func lost(_ failure: Unreachable) {
        self = Sight()
        detail = failure.reason
    }

    mutating func connected() {
        self = Sight()
        link = .frozen
    }

    /// - Parameter now: seconds since 1970.
    mutating func note(_ report: Report, at now: Double) {
        switch report {
        case .version, .other: if link == .frozen { link = .silent }
        case .devices(let count): if count == 0 { link = .noReceiver } else if link != .stale { link = .silent }
        case .sky(let seen, let used): satellites = (seen, used)
        case .fix(let fix): note(fix, at: now)
        }
    }

    private mutating func note(_ fix: RawFix, at now: Double) {
        mode = fix.mode
        guard let position = fix.position(source: "") else {
            link = .noFix
            return
        }
        age = position.age(at: now)
        link = abs(age) > PositionWish.freshness ? .stale : .no3DFix
    }

    /// The error of a caller who has waited in vain.
    func error(_ code: CommandError.Code, _ source: String, after seconds: Double? = nil) -> CommandError {
        let time = seconds.map { " within \(Self.text($0)) s" } ?? ""
        var details: JSONObject = ["reason": .string(link.rawValue), "mode": .integer(Int64(mode))]
        if let satellites {
            details["satellites"] = [
                "seen": .integer(Int64(satellites.seen)), "used": .integer(Int64(satellites.used)),
            ]
        }
        if let mend { details["mend"] = .string(mend) }
        return CommandError(code, "no position\(time): \(sentence(source))", details: details)
    }

    func sentence(_ source: String) -> String {
        switch link {
        case .unreachable: "\(source) cannot be reached: \(detail.isEmpty ? "it does not answer" : detail)"
        case .frozen: "\(source) takes connections and says nothing: is it stopped?"
        case .noReceiver: "\(source) has no receiver"
        case .silent: "\(source) runs, and its receiver says nothing: is it plugged in, at the right speed?"
        case .noFix: "the receiver has no fix yet\(sky): it needs a clear sight of the sky"
        case .stale: staleness
        case .no3DFix: "the receiver has a fix without altitude\(sky)"
        }
    }

    private var staleness: String {
        if age == .infinity { return "the receiver tells a position, and not of when it is" }
        let hint = "is this device's clock right?"
        if age < 0 { return "the receiver's fix is \(Self.text(-age)) s in the future; \(hint)" }
        return "the receiver's fix is \(Self.text(age)) s old; \(hint)"
    }

    private var sky: String {
        satellites.map { ", with \($0.seen) satellites seen and \($0.used) used" } ?? ", and has told of no satellites"
    }

    /// The command that mends it, or shows more.
    var mend: String? {
        switch link {
        case .unreachable, .frozen: "sudo systemctl restart gpsd.socket gpsd"
        case .noReceiver: "sudo gpsdctl add /dev/ttyACM0"
        case .silent: "gpspipe -w -n 10"
        case .noFix, .no3DFix: "cgps"
        case .stale: "timedatectl"
        }
    }

    private static func text(_ seconds: Double) -> String {
        seconds < 10 ? "\((seconds * 10).rounded() / 10)" : "\(Int64(min(seconds, 1e15)))"
    }
}
