import NIOCore
import NIOPosix
import Synchronization

/// The names of users, looked up on a thread that may block, because the look-up may ask a directory server. A name is
/// looked up once. A user without one is looked up again after a while: there may have been no descriptor, or no server.
final class UserNames: Sendable {
    private struct Known {
        var name: String?
        var since: ContinuousClock.Instant
    }

    private let lookUp: @Sendable (UInt32) -> String?
    private let names = Mutex<[UInt32: Known]>([:])
    private static let most = 4096
    /// How long a user without a name counts as such.
    private static let doubt = Duration.seconds(10)
    /// After this time a user counts as one without a name, so that a directory that does not answer locks nobody out.
    private static let patience = TimeAmount.seconds(1)

    /// - Parameter lookUp: the name of a user; nil if it has none. May block.
    init(_ lookUp: @escaping @Sendable (UInt32) -> String?) { self.lookUp = lookUp }

    /// The name if it has been looked up; the outer nil if not.
    private func known(_ uid: UInt32) -> String?? {
        guard let known = names.withLock({ $0[uid] }) else { return nil }
        guard known.name != nil || known.since + Self.doubt > .now else { return nil }
        return .some(known.name)
    }

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
                // Another look-up may have found it meanwhile.
                if name != nil || names[uid]?.name == nil { names[uid] = Known(name: name, since: .now) }
            }
            timer.cancel()
            promise.succeed(name)
        }
        return promise.futureResult
    }
}
