internal import Glibc
internal import JSON
internal import Linux

/// The process of one script, and its reports.
final class ScriptProcess {
    let child: Child
    let started = ContinuousClock.now
    /// Its reports so far, combined.
    private(set) var report = ScriptReport()
    private(set) var loadedFiles: Set<String> = []
    /// A healthy process sends short lines.
    private static let maxLine = 1 << 16

    /// Starts a process.
    /// - Returns: nil if the system cannot start another process.
    init?(_ command: [String], environment: [String: String]) {
        var variables = environment
        variables[HostChannel.hostVariable] = "\(getpid())"
        guard let child = Child(command, variables, channel: HostChannel.number, maxLine: Self.maxLine) else {
            return nil
        }
        self.child = child
    }

    /// Reads its reports; true if there were any.
    func read() -> Bool {
        var isNew = false
        child.receive { line in
            isNew = true
            switch line {
            case .line(let line): take(String(decoding: line, as: UTF8.self))
            case .overlong: child.closeChannel()
            }
            return true
        }
        return isNew
    }

    private func take(_ line: String) {
        guard let json = try? JSONParser.parse(line) else { return }
        report.take(json)
        if let file = report.loadedFile { loadedFiles.insert(file) }
    }

    var isLoaded: Bool { report.isLoaded ?? false }
    var isReleased: Bool { report.isReleased ?? false }

    /// Sends an order, as soon as the process takes it.
    func order(_ order: HostChannel.Order) { child.send(Array(order.line.utf8)) }
}
