import Concurrency
import Configuration

/// A limit that a script has exceeded, which ends it.
enum Limit: Sendable {
    case cpuTime, handlerTime, blocked, memory, share

    /// What the script did: `it used more than 1 s of CPU time without returning`.
    func sentence(_ limits: ScriptLimits) -> String {
        switch self {
        case .cpuTime: "it used more than \(Self.words(limits.cpuSeconds)) of CPU time without returning"
        case .handlerTime: "a call of its handler took longer than \(Self.words(limits.handlerSeconds))"
        case .blocked: "it blocked for more than \(Self.words(limits.handlerSeconds))"
        case .memory: "it used more than \(limits.memoryBytes >> 20) MiB of memory"
        case .share:
            "it used more than \(limits.sharePercent) % of a core over \(Self.words(limits.shareSeconds))"
        }
    }

    /// The name of the setting.
    var name: String {
        switch self {
        case .cpuTime: "cpuTime"
        case .handlerTime, .blocked: "handlerTime"
        case .memory: "memoryBytes"
        case .share: "sharePercent"
        }
    }

    private static func words(_ seconds: Double) -> String { Duration.seconds(seconds).words }
}
