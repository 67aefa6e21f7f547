internal import Concurrency
internal import Configuration
internal import DataStore
internal import Glibc
internal import JSON
internal import Linux
internal import QuickConnectClient

/// The thread that writes the data, so that a slow disk delays nothing else.
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
        case answer(HandlerCall, Result<JSONValue, HandlerCall.Failure>)
        case ended
    }

    private let jobs = Monitor<[Job]>([])
    private let news = Monitor<[News]>([])
    private let waker: Waker

    /// - Parameter waker: woken when there is news.
    init(_ path: String, _ settings: ProcedureSettings, _ waker: Waker) throws(SystemCallError) {
        self.waker = waker
        let code = PThread.start("data") { [self] in
            var desk = DataDesk(path, settings)
            while true {
                let job = nextJob()
                if case .end = job { break }
                for news in desk.done(job) { tell(news) }
                if desk.hasMore { order(.trim) }
            }
            desk.close()
            tell(.ended)
        }
        guard code == 0 else { throw SystemCallError("pthread_create", code) }
    }

    func order(_ job: Job) {
        jobs.withLock { $0.append(job) }
        jobs.notify()
    }

    func takeNews() -> [News] {
        news.withLock { news in
            defer { news = [] }
            return news
        }
    }

    private func nextJob() -> Job {
        jobs.wait { jobs in jobs.isEmpty ? .wait(until: nil) : .go(jobs.removeFirst()) }
    }

    private func tell(_ one: News) {
        news.withLock { $0.append(one) }
        waker.wake()
    }
}
