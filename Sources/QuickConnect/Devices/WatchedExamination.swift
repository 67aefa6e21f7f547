public import Concurrency
internal import Synchronization

/// A doctor's look at a part of the device, on a thread of its own, since what it looks at may hang. Those who ask while it
/// looks share what it finds.
public final class WatchedExamination: Sendable {
    private let subject: String
    private let step: String
    private let fix: String?
    private let thread: WatchedThread
    private let look: @Sendable (WatchedThread) -> Finding
    /// Those who wait for the look that is under way.
    private let waiting = Mutex<[Promise<Finding>]>([])

    /// - Parameters:
    ///   - subject: of its finding.
    ///   - part: what is looked at, such as `the motor`.
    ///   - thread: the name of the thread, at most 9 bytes.
    ///   - deadline: how long one call of the look may take.
    ///   - fix: the command that helps where it does not answer.
    ///   - look: runs on the thread, which it tells that it is alive where it takes longer.
    public init(
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

    /// What a look finds now.
    public func finding() async -> Finding {
        let promise = Promise<Finding>()
        let isFirst = waiting.withLock { waiting in
            waiting.append(promise)
            return waiting.count == 1
        }
        if isFirst { begin() }
        do throws(CommandError) { return try await promise.value() } catch { return Finding(subject, error) }
    }

    /// Looks no more.
    public func close() async { await thread.end() }

    private func begin() {
        let job = WatchedThread.Job(
            step: step,
            work: { self.tell(self.look(self.thread)) },
            giveUp: { (error: CommandError) in self.tell(Finding(self.subject, error, fix: self.fix)) }
        )
        do throws(CommandError) { try thread.run(job) } catch { tell(Finding(subject, error, fix: fix)) }
    }

    private func tell(_ finding: Finding) {
        let waiting = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for promise in waiting { promise.fulfil(finding) }
    }
}
