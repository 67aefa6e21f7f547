internal import Glibc

/// How much a program logs.
public enum LogLevel: String, Sendable, CaseIterable {
    case trace, debug, info, notice, warning, error, critical

    public static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// The number in syslog(3).
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
public struct ServiceLog: Sendable {
    private let program: String
    private let level: LogLevel
    private let isForSystemd: Bool

    public init(_ program: String, _ level: LogLevel, environment: [String: String]) {
        self.program = program
        self.level = level
        isForSystemd = OwnProcess.logsToJournal(environment)
    }

    public func write(_ text: String, _ level: LogLevel) {
        guard level.syslog <= self.level.syslog else { return }
        let prefix = isForSystemd ? "<\(level.syslog)>" : "\(program): "
        Descriptor.write("\(prefix)\(text.escapingControls)\n", to: STDERR_FILENO)
    }
}
