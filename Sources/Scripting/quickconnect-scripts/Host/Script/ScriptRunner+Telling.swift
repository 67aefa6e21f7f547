import Concurrency
import Configuration

/// Reports to the host that started this process, if there is one.
extension ScriptRunner {
    /// Sends a report to the host that started this process, if there is one.
    func report(_ fill: (inout ScriptReport) -> Void) {
        var report = ScriptReport()
        fill(&report)
        channel?.report(report)
    }

    /// Reports the counts to the host, at most once a second.
    func reportWhenDue() {
        if let dropped = meter.takeUntold() {
            let bytes = limits.consoleBytesPerSecond >> 10
            console.write("warning", "\(dropped) lines were dropped: more than \(bytes) KiB in a second (consoleBytes)")
            isChanged = true
        }
        guard isChanged, toldAt.map({ .now - $0 >= .seconds(1) }) ?? true else { return }
        reportCounts()
    }

    func reportCounts() {
        guard isChanged else { return }
        isChanged = false
        toldAt = .now
        let counts = runtime?.counts ?? (calls: 0, answers: 0)
        report {
            $0.calls = counts.calls
            $0.answers = counts.answers
            $0.droppedLines = meter.dropped
        }
    }
}
