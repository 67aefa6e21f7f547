internal import Concurrency
internal import Configuration
internal import Glibc
internal import JSON
internal import Linux
internal import QuickConnectClient

/// A thread that reads or writes the data, so that a slow disk delays nothing else.
final class DataKeeper: Sendable {
    enum Job: Sendable {
        /// Open the file, and read it completely.
        case open
        case save([Entry])
        /// Delete some entries that are too old or exceed the size.
        case trim
        case answer(HandlerCall)
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
        case ended
    }

    /// What is to be done. The callers take turns, and come before what is only tidied up.
    private struct Jobs: Sendable {
        var own: [Job] = []
        var calls = Ring<ProcedureCaller, HandlerCall>()
        private var wasCall = false

        /// - Parameter fits: whether a caller may have its turn.
        mutating func next(where fits: (ProcedureCaller) -> Bool) -> Job? {
            var isTrim = false
            if case .trim? = own.first { isTrim = true }
            if own.isEmpty || isTrim && !wasCall, let call = calls.next(where: fits) {
                wasCall = true
                return .answer(call)
            }
            wasCall = false
            return own.isEmpty ? nil : own.removeFirst()
        }
    }

    private let jobs = Monitor(Jobs())
    private let news = Monitor<[News]>([])
    private let answers: AnswerQueue
    private let waker: Waker

    /// - Parameters:
    ///   - name: of the thread.
    ///   - answers: gets the answers. Who has its share of them gets its next turn later.
    ///   - waker: woken when there is news.
    ///   - make: makes what works there.
    init(
        _ name: String,
        _ answers: AnswerQueue,
        _ waker: Waker,
        _ make: @escaping @Sendable () -> DataWorker
    ) throws(SystemCallError) {
        self.answers = answers
        self.waker = waker
        let code = PThread.start(name) { [self] in
            var desk = make()
            while true {
                let job = nextJob()
                if case .end = job { break }
                for news in desk.done(job) { notify(news) }
                if desk.hasMore { order(.trim) }
            }
            desk.close()
            notify(.ended)
        }
        guard code == 0 else { throw SystemCallError("pthread_create", code) }
    }

    func order(_ job: Job) {
        jobs.withLock { $0.own.append(job) }
        jobs.notify()
    }

    /// Answers a call to the handler `data`.
    func ask(_ call: HandlerCall) {
        let peer = ProcedureCaller(call)
        jobs.withLock { $0.calls.append(call, of: peer) }
        jobs.notify()
    }

    func takeNews() -> [News] {
        news.withLock { news in
            defer { news = [] }
            return news
        }
    }

    /// Answers have been sent: who had its share may have a turn.
    func goOn() {
        // Not between its look at the answers and its wait.
        jobs.withLock { _ in }
        jobs.notify()
    }

    private func nextJob() -> Job {
        jobs.wait { jobs in
            jobs.next(where: { !answers.isFull(for: $0.name) }).map { .go($0) } ?? .wait(until: nil)
        }
    }

    private func notify(_ one: News) {
        news.withLock { $0.append(one) }
        waker.wake()
    }
}
