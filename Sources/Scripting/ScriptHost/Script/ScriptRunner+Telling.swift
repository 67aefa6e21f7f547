import Configuration
internal import QuickConnect

/// Reports to the host that started this process, if there is one.
extension ScriptRunner {
    /// Sends a report to the host that started this process, if there is one.
    func tell(_ fill: (inout ScriptReport) -> Void) {
        var report = ScriptReport()
        fill(&report)
        channel?.tell(report)
    }

    /// Reports the counts to the host, at most once a second.
    func tellWhenDue() {
        if let dropped = meter.takeUntold() {
            let bytes = limits.consoleBytesPerSecond >> 10
            console.write("warning", "\(dropped) lines were dropped: more than \(bytes) KiB in a second (consoleBytes)")
            isChanged = true
        }
        guard isChanged, toldAt.map({ .now - $0 >= .seconds(1) }) ?? true else { return }
        tellCounts()
    }

    func tellCounts() {
        guard isChanged else { return }
        isChanged = false
        toldAt = .now
        let counts = runtime?.counts ?? (calls: 0, answers: 0)
        tell {
            $0.calls = counts.calls
            $0.answers = counts.answers
            $0.droppedLines = meter.dropped
        }
    }
}
