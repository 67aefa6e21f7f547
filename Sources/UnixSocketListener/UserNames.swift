import NIOCore
import NIOPosix
import Synchronization

/// The names of users, each looked up once, on a thread that may block, because the look-up may ask a directory server.
final class UserNames: Sendable {
    private let lookUp: @Sendable (UInt32) -> String?
    private let names = Mutex<[UInt32: String?]>([:])
    private static let most = 4096
    /// After this time a user counts as one without a name, so that a directory that does not answer locks nobody out.
    private static let patience = TimeAmount.seconds(1)

    /// - Parameter lookUp: the name of a user; nil if it has none. May block.
    init(_ lookUp: @escaping @Sendable (UInt32) -> String?) { self.lookUp = lookUp }

    /// The name if it has been looked up; the outer nil if not.
    private func known(_ uid: UInt32) -> String?? { names.withLock { $0[uid] } }

    /// The name; nil if there is none, or none in time.
    func name(of uid: UInt32, on loop: any EventLoop) -> EventLoopFuture<String?> {
        if let name = known(uid) { return loop.makeSucceededFuture(name) }
        let promise = loop.makePromise(of: String?.self)
        let timer = loop.scheduleTask(in: Self.patience) { promise.succeed(nil) }
        NIOThreadPool.singleton.submit { state in
            guard case .active = state else { return promise.succeed(nil) }
            let name = self.lookUp(uid)
            self.names.withLock { names in
                if names.count >= Self.most { names = [:] }
                names[uid] = .some(name)
            }
            timer.cancel()
            promise.succeed(name)
        }
        return promise.futureResult
    }
}
