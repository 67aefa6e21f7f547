internal import Concurrency
internal import QuickConnectClient
internal import Synchronization

/// A thread that reads or writes the data, so that a slow disk delays nothing else. What the host has to keep comes first,
/// then callers take turns, also with what is only tidied up.
final class DataKeeper: Sendable {
    enum Job: Sendable {
        /// Open the file, and read it completely.
        case open
        case save([Entry])
        /// Delete some entries that are too old or exceed the size.
        case trim
        case answer(HandlerCall)
        /// Tell when all before it is done.
        case settle
        case end
    }

    enum News: Sendable {
        case opened
        case saved(Int)
        case notSaved([Entry], StoreError)
        case failed(StoreError)
        /// Why nothing is deleted by its age, or nil as soon as it is again.
        case doubts(String?)
        /// The answer to a call of that caller waits to be sent.
        case answered(ProcedureCaller)
        case settled
        case ended
    }

    private let thread: SideThread<[News]>
    private let worker: Mutex<DataWorker>

    /// - Parameters:
    ///   - name: of the thread.
    ///   - answers: gets the answers. Who has its share of them gets its next turn later.
    ///   - waker: woken when there is news.
    ///   - worker: what works there.
    init(_ name: String, _ answers: AnswerQueue, _ waker: Waker, _ worker: sending DataWorker) {
        self.worker = Mutex(worker)
        thread = SideThread(name, mayRun: { $0.isEmpty || !answers.isFull(for: $0) }) { waker.wake() }
    }

    /// A job of the host itself.
    func order(_ job: Job) {
        if case .trim = job {
            thread.run(for: "") { [self] in done(job) }
        } else {
            thread.runFirst { [self] in done(job) }
        }
    }

    /// Answers a call to the handler `data`.
    func ask(_ call: HandlerCall) { thread.run(for: call.callerName) { [self] in done(.answer(call)) } }

    private func done(_ job: Job) -> [News] {
        let (news, hasMore) = worker.withLock { ($0.done(job), $0.hasMore) }
        if hasMore { order(.trim) }
        return news
    }

    func takeNews() -> [News] { thread.takeValues().flatMap(\.self) }

    /// Answers have been sent: who had its share may have a turn.
    func goOn() { thread.goOn() }
}
