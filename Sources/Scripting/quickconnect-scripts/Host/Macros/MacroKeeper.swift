internal import Concurrency
internal import JSON
internal import Linux
internal import QuickConnectClient

/// The thread that reads and writes the macros' files, so that a slow disk, and whoever asks for much, delays nothing else.
/// The callers take turns. Who has its share of answers that are not sent yet gets its next turn later.
final class MacroKeeper: Sendable {
    enum Job: Sendable {
        /// Find what has changed.
        case look
        /// Find what has changed, and answer with it.
        case list(HandlerCall)
        case answer(HandlerCall)
        /// Read the text of a macro.
        case text(MacroListing.Entry)
    }

    enum News: Sendable {
        case listing(MacroListing)
        /// What came of a call that changes files, and what is there then.
        case changed(MacroListing, HandlerCall, Result<HandlerCall.Answer, HandlerCall.Failure>)
        case list(MacroListing, HandlerCall)
        case text(MacroListing.Entry, Result<String, FileText.Problem>)
    }

    private struct Jobs {
        var ring = Ring<String, Job>()
        var counts = Budget<String>(limit: .max)
    }

    /// The calls of one caller that may wait.
    static let maxWaiting = 8

    private let jobs = Monitor(Jobs())
    private let news = Monitor<[News]>([])
    private let answers: AnswerQueue
    private let waker: Waker

    /// - Parameters:
    ///   - answers: gets the answers.
    ///   - waker: woken when there is news, or an answer.
    /// - Returns: nil if no thread can be started.
    init?(
        _ folders: MacroFolders,
        _ answers: AnswerQueue,
        _ waker: Waker,
        log: @escaping @Sendable (String, String) -> Void
    ) {
        self.answers = answers
        self.waker = waker
        let code = PThread.start("macros' files") { [self] in
            let library = MacroLibrary(folders, log: log)
            while true {
                if let one = done(nextJob(), library) { report(one) }
                waker.wake()
            }
        }
        guard code == 0 else { return nil }
    }

    /// - Parameter caller: whose turn it takes; the host's own jobs have no limit.
    /// - Returns: false if the caller has its share of what waits.
    func submit(_ job: Job, by caller: String = "") -> Bool {
        let isTaken = jobs.withLock { jobs in
            guard caller.isEmpty || jobs.counts.used(by: caller) < Self.maxWaiting else { return false }
            jobs.counts.add(1, to: caller)
            jobs.ring.append(job, of: caller)
            return true
        }
        if isTaken { jobs.notify() }
        return isTaken
    }

    func takeNews() -> [News] {
        news.withLock { news in
            defer { news = [] }
            return news
        }
    }

    private func nextJob() -> Job {
        jobs.wait { jobs in
            guard let job = jobs.ring.next(where: { !answers.isFull(for: $0) }) else { return .wait(until: nil) }
            jobs.counts.add(-1, to: job.caller)
            return .go(job)
        }
    }

    /// Answers have been sent: who had its share may have a turn.
    func goOn() {
        // Not between its look at the answers and its wait.
        jobs.withLock { _ in }
        jobs.notify()
    }

    private func report(_ one: News) { news.withLock { $0.append(one) } }

    private func done(_ job: Job, _ library: MacroLibrary) -> News? {
        switch job {
        case .look: return .listing(library.look())
        case .list(let call): return .list(library.look(), call)
        case .text(let entry): return .text(entry, library.text(of: entry))
        case .answer(let call):
            let answer = library.answer(call)
            let verb = call.data.arrayValue?.first?.stringValue
            if verb == "save" || verb == "revert" { return .changed(library.look(), call, answer) }
            answers.append(answer, to: call)
            return nil
        }
    }
}

extension MacroKeeper.Job {
    /// Whose turn it takes.
    fileprivate var caller: String {
        switch self {
        case .look, .text: ""
        case .list(let call), .answer(let call): call.callerName
        }
    }
}
