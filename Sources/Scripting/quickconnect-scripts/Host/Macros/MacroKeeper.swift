internal import Concurrency
internal import JSON
internal import Linux
internal import QuickConnectClient
internal import Synchronization

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
        case text(MacroListing.Entry, Result<String, FileText.Problem>?)
    }

    /// The calls of one caller that may wait.
    static let maxWaiting = 8

    private let thread: SideThread<News?>
    private let library: Mutex<MacroLibrary>
    private let counts = Mutex(Budget<String>(limit: .max))
    private let answers: AnswerQueue

    /// - Parameters:
    ///   - answers: gets the answers.
    ///   - waker: woken when there is news, or an answer.
    init(
        _ folders: MacroFolders,
        _ answers: AnswerQueue,
        _ waker: Waker,
        log: @escaping @Sendable (String, String) -> Void
    ) {
        self.answers = answers
        library = Mutex(MacroLibrary(folders, log: log))
        thread = SideThread("macros' files", mayRun: { !answers.isFull(for: $0) }) { waker.wake() }
    }

    /// - Parameter caller: whose turn it takes; the host's own jobs have no limit.
    /// - Returns: false if the caller has its share of what waits.
    func submit(_ job: Job, by caller: String = "") -> Bool {
        let isTaken = counts.withLock { counts in
            guard caller.isEmpty || counts.used(by: caller) < Self.maxWaiting else { return false }
            counts.add(1, to: caller)
            return true
        }
        guard isTaken else { return false }
        thread.run(for: caller) { [self] in
            counts.withLock { $0.add(-1, to: caller) }
            return library.withLock { done(job, $0) }
        }
        return true
    }

    func takeNews() -> [News] { thread.takeValues().compactMap(\.self) }

    /// Answers have been sent: who had its share may have a turn.
    func goOn() { thread.goOn() }

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
