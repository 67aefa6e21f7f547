internal import Concurrency
package import Glibc
internal import Linux

/// Texts that wait to be checked, one at a time, in one process for all callers.
///
/// The callers take turns (``CheckOrder``), so that dear texts wait for each other, and not others for them.
package final class CheckQueue<Ticket> {
    private struct Waiting {
        var text: CheckedText
        var caller: String
        var ticket: Ticket
        /// Whether a process has failed with it before, as one may that is idle, or was taken over by another text.
        var isSecondTime = false
    }

    private let program: String
    private let environment: [String: String]
    private var process: CheckProcess?
    /// Those that were killed and have not ended yet.
    private var ending: [CheckProcess] = []
    private var running: Waiting?
    /// A text that another process is to check, before all others.
    private var again: Waiting?
    private var order = CheckOrder<Waiting>()
    private var counts = Budget<String>(limit: .max)
    private var bytes: Budget<String>
    private var verdicts: [(ticket: Ticket, verdict: CheckVerdict)] = []

    /// The texts of one caller that may wait.
    package static var maxWaiting: Int { 8 }
    /// The bytes of all texts that wait.
    private static var maxBytes: Int { 16 << 20 }
    /// What a text costs at least, because others wait for the processes to speak with each other.
    private static var leastSeconds: Double { 0.001 }
    private static var idleTime: Duration { .seconds(30) }

    /// What a caller is told whose text is not taken.
    package static var overloaded: String {
        "this caller's texts that wait to be checked are too many or too long: "
            + "at most \(maxWaiting), and a quarter of \(maxBytes >> 20) MiB"
    }

    /// - Parameter program: the path of quickconnect-scripts.
    package init(program: String, environment: [String: String]) {
        self.program = program
        self.environment = environment
        bytes = Budget(limit: Self.maxBytes)
    }

    /// How many texts wait, without the one that is being checked.
    package var waitingCount: Int { order.count + (again == nil ? 0 : 1) }

    /// Whether nothing is being checked, and nothing waits.
    package var isIdle: Bool { running == nil && waitingCount == 0 && verdicts.isEmpty }

    /// Adds a text; its verdict comes with the ticket.
    /// - Parameter caller: whose turn it takes.
    /// - Returns: false if the caller has its share of the queue.
    package func submit(_ text: CheckedText, by caller: String, _ ticket: Ticket) -> Bool {
        let size = text.text.utf8.count
        guard counts.used(by: caller) < Self.maxWaiting, bytes.has(size, for: caller) else { return false }
        counts.add(1, to: caller)
        bytes.add(size, to: caller)
        order.append(Waiting(text: text, caller: caller, ticket: ticket), of: caller)
        start(at: .now)
        return true
    }

    // MARK: In the loop

    /// What to wait for in poll(2).
    package var poll: pollfd { process?.poll ?? pollfd(fd: -1, events: 0, revents: 0) }

    /// When to call ``advance()`` again without an event.
    package var nextMoment: ContinuousClock.Instant? {
        guard verdicts.isEmpty else { return .now }
        let reaps = ending.isEmpty ? nil : ContinuousClock.now + CheckProcess.endPeriod
        guard let process else { return running == nil && waitingCount > 0 ? .now : reaps }
        let moment = process.isBusy ? process.nextMoment : process.idleSince + Self.idleTime
        return [moment, reaps].compactMap { $0 }.min()
    }

    /// Goes on with the text that is being checked, and with the next one.
    package func advance() {
        let now = ContinuousClock.now
        ending.removeAll { $0.reap() }
        if let outcome = process?.advance(to: now) { end(outcome, at: now) }
        if let process, !process.isBusy, waitingCount == 0, process.idleSince + Self.idleTime <= now {
            drop()
        }
        start(at: now)
    }

    /// The verdicts since the last time.
    package func takeVerdicts() -> [(ticket: Ticket, verdict: CheckVerdict)] {
        defer { verdicts = [] }
        return verdicts
    }

    private func end(_ outcome: CheckProcess.Outcome, at now: ContinuousClock.Instant) {
        // Also one that was idle and has ended.
        if outcome.isOver { drop() }
        guard var done = running else { return }
        running = nil
        order.charge(max(outcome.seconds, Self.leastSeconds), to: done.caller, at: now)
        guard outcome.isDoubtful, !done.isSecondTime else {
            return verdicts.append((done.ticket, outcome.verdict))
        }
        done.isSecondTime = true
        again = done
    }

    /// Ends the process, without waiting for its end.
    private func drop() {
        guard let process else { return }
        process.kill()
        if !process.reap() { ending.append(process) }
        self.process = nil
    }

    private func start(at now: ContinuousClock.Instant) {
        while running == nil, let next = next(at: now) {
            process = process ?? CheckProcess(program, environment)
            guard let process else {
                verdicts.append((next.ticket, .unchecked(problem)))
                continue
            }
            running = next
            process.begin(next.text)
        }
    }

    /// Why no process can be started.
    private var problem: String {
        guard program.contains("/") || Program.isInPath(program, environment) else { return Program.missing(program) }
        return "no process can be started that checks it"
    }

    private func next(at now: ContinuousClock.Instant) -> Waiting? {
        if let again {
            self.again = nil
            return again
        }
        guard let one = order.next(at: now) else { return nil }
        counts.add(-1, to: one.caller)
        bytes.add(-one.text.text.utf8.count, to: one.caller)
        return one
    }
}
