internal import Glibc

/// How much a program logs.
package enum LogLevel: String, Sendable, CaseIterable {
    case trace, debug, info, notice, warning, error, critical

    package static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// The number in syslog(3).
    package var syslog: Int {
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
package struct ServiceLog: Sendable {
    private let program: String
    private let level: LogLevel
    private let isForSystemd: Bool

    package init(_ program: String, _ level: LogLevel, environment: [String: String]) {
        self.program = program
        self.level = level
        isForSystemd = OwnProcess.logsToJournal(environment)
    }

    package func write(_ text: String, _ level: LogLevel) {
        guard level.syslog <= self.level.syslog else { return }
        let prefix = isForSystemd ? "<\(level.syslog)>" : "\(program): "
        Descriptor.write("\(prefix)\(text.escapingControls)\n", to: STDERR_FILENO)
    }
}

/// Lines on standard error with the name of a part in front, in the journal too: one service has several.
package struct NamedLog: Sendable {
    package var name: String
    private let isForSystemd: Bool

    package init(_ name: String, environment: [String: String]) {
        self.name = name
        isForSystemd = OwnProcess.logsToJournal(environment)
    }

    /// - Parameters:
    ///   - level: `error`, `warning`, `debug`; everything else is `info`.
    ///   - text: one entry for each line, because the journal stores lines.
    ///   - isEscaped: whether control characters are. A script's output stays as it is.
    package func write(_ level: String, _ text: String, isEscaped: Bool = true) {
        let prefix = isForSystemd ? "<\((LogLevel(rawValue: level) ?? .info).syslog)>" : ""
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
        let entries = lines.map { "\(prefix)\(name): \(isEscaped ? $0.escapingControls : $0)\n" }
        Descriptor.write(entries.joined(), to: STDERR_FILENO)
    }
}
