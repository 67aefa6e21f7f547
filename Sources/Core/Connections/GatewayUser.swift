import Synchronization

/// The user for whom a gateway's connection acts: nobody until its first call, which is `actFor`, and then one user for
/// the rest of the connection.
final class GatewayUser: Sendable {
    private enum State: Sendable {
        /// No call has been made yet.
        case unnamed
        case named(Caller, Owner)
        /// Another call came first: the gateway forgot to name its caller.
        case forgotten
    }

    private let gateway: SocketRule.Gateway
    private let state = Mutex(State.unnamed)

    init(_ gateway: SocketRule.Gateway) { self.gateway = gateway }

    /// The user, once there is one.
    var caller: Caller? {
        state.withLock { if case .named(let caller, _) = $0 { caller } else { nil } }
    }

    /// The owner of what the user has, once there is one.
    var owner: Owner? {
        state.withLock { if case .named(_, let owner) = $0 { owner } else { nil } }
    }

    /// `denied` for a call that has no user.
    func refusal(of command: String) -> CommandError? {
        state.withLock { state in
            switch state {
            case .named: return nil
            case .unnamed where command == SocketRule.actFor: return nil
            case .unnamed, .forgotten:
                state = .forgotten
                return CommandError(
                    .denied,
                    """
                    the first call on a connection of the gateway \(gateway.name) is actFor [user, {groups}], and none \
                    came; \(SocketRule.ownSocket)
                    """
                )
            }
        }
    }

    /// Names the user. Throws `denied` the second time.
    func name(_ user: String, groups: Set<String>) throws(CommandError) {
        let isFirst = state.withLock { state in
            guard case .unnamed = state else { return false }
            let caller = Caller(.gateway(name: gateway.name, user: user, groups: groups))
            state = .named(caller, caller.owner)
            return true
        }
        guard isFirst else {
            throw CommandError(
                .denied,
                "this connection acts for a user already; another user needs another connection"
            )
        }
    }
}
