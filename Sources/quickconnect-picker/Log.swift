import ArgumentParser
import Glibc
import Linux

enum LogLevel: String, CaseIterable, ExpressibleByArgument {
    case trace, debug, info, notice, warning, error, critical

    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// As syslog(3) numbers it.
    var syslog: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

/// Lines on standard error. The journal reads the level from a prefix (sd-daemon(3)).
struct Log: Sendable {
    private let level: LogLevel
    private let isForSystemd: Bool

    init(_ level: LogLevel, environment: [String: String]) {
        self.level = level
        isForSystemd = OwnProcess.logsToJournal(environment)
    }

    func write(_ text: String, _ level: LogLevel) {
        guard level.syslog <= self.level.syslog else { return }
        let prefix = isForSystemd ? "<\(level.syslog)>" : "quickconnect-picker: "
        Descriptor.write("\(prefix)\(text.escapingControls)\n", to: STDERR_FILENO)
    }
}
