import Synchronization

/// For whom a gateway's connection speaks: nobody before its first call, which is `actFor`, and then one user for good.
final class GatewayUser: Sendable {
    private enum State: Sendable {
        /// Nothing has been called yet.
        case unnamed
        case named(Caller)
        /// Something else was called first: a caller whom the gateway forgot to name.
        case forgotten
    }

    private let gateway: SocketRule.Gateway
    private let state = Mutex(State.unnamed)

    init(_ gateway: SocketRule.Gateway) { self.gateway = gateway }

    /// The user, once there is one.
    var caller: Caller? {
        state.withLock { if case .named(let caller) = $0 { caller } else { nil } }
    }

    /// `denied`, where a call is taken for nobody.
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
                    came; connect anew
                    """
                )
            }
        }
    }

    /// Names the user. `denied` the second time.
    func name(_ user: String, groups: Set<String>) throws(CommandError) {
        let isFirst = state.withLock { state in
            guard case .unnamed = state else { return false }
            state = .named(Caller(.gateway(name: gateway.name, user: user, groups: groups)))
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
