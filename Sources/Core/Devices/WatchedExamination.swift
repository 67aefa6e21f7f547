package import Concurrency
internal import Synchronization

/// A doctor's check of a part of the device, on a thread of its own, because it may hang. Callers that ask while a
/// check runs share its finding.
public final class WatchedExamination: Sendable {
    private let subject: String
    private let step: String
    private let fix: String?
    private let thread: WatchedThread
    private let look: @Sendable (WatchedThread) -> Finding
    /// The callers that wait for the running check.
    private let waiting = Mutex<[Promise<Finding>]>([])

    /// - Parameters:
    ///   - subject: the subject of its finding.
    ///   - part: what is checked, such as `the motor`.
    ///   - thread: the name of the thread, at most 9 bytes.
    ///   - deadline: how long one step of the check may take.
    ///   - fix: the command that helps if it does not answer.
    ///   - look: the check. It runs on the thread, and reports to it that it is alive if it takes longer.
    package init(
        _ subject: String,
        of part: String,
        thread: String,
        deadline: Duration = .seconds(5),
        fix: String? = nil,
        look: @escaping @Sendable (WatchedThread) -> Finding
    ) {
        (self.subject, self.fix, self.look) = (subject, fix, look)
        step = "looking at \(part)"
        self.thread = WatchedThread(name: thread, subject: part, deadline: deadline)
    }

    /// Runs the check and returns its finding.
    public func finding() async -> Finding {
        let promise = Promise<Finding>()
        let isFirst = waiting.withLock { waiting in
            waiting.append(promise)
            return waiting.count == 1
        }
        if isFirst { begin() }
        do throws(CommandError) { return try await promise.value() } catch { return Finding(subject, error) }
    }

    /// Ends the thread; no further checks.
    public func close() async { await thread.end() }

    private func begin() {
        thread.run(step) {
            self.report(self.look(self.thread))
        } orElse: {
            self.report(Finding(self.subject, $0, fix: self.fix))
        }
    }

    private func report(_ finding: Finding) {
        let waiting = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for promise in waiting { promise.fulfil(finding) }
    }
}
