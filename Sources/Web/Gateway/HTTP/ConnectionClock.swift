internal import NIOCore

/// The deadlines of an HTTP connection: NIO's HTTP handlers have none. Each begins once; nothing that a client sends or
/// reads extends it.
final class ConnectionClock {
    enum Phase {
        /// Until the first request is complete, and from the first byte of each further one.
        case head
        case body
        /// A piece of an upload. Shorter than the daemon keeps what nobody continues.
        case piece
        /// The client does not control how long its answer takes, so there is no deadline.
        case work
        case answer
        /// Between two requests.
        case rest
        /// The last answer was sent; what still comes is dropped.
        case end

        fileprivate var time: TimeAmount? {
            switch self {
            case .head: .seconds(10)
            case .body, .rest: .seconds(60)
            case .piece: .seconds(50)
            case .work: nil
            case .answer: .seconds(300)
            case .end: .seconds(2)
            }
        }
    }

    private var deadline: Scheduled<Void>?

    func begin(_ phase: Phase, _ channel: any Channel) {
        deadline?.cancel()
        deadline = phase.time.map { time in
            channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
        }
    }

    func stop() {
        deadline?.cancel()
        deadline = nil
    }
}
