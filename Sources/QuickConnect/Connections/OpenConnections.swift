import JSON
import Synchronization

/// A transport, which knows the connections that are open on it.
public protocol ConnectionKeeper: AnyObject, Sendable {
    var openConnections: [any CallConnection] { get }
    var connectionCount: Int { get }
}

/// The connections that are open, as `state` tells of them. The transport keeps them; here is only the way to it, so a
/// connection costs nothing more.
public final class OpenConnections: Sendable {
    private struct State {
        weak var keeper: (any ConnectionKeeper)?
    }

    private let state = Mutex(State())

    /// No connections yet.
    public init() {}

    /// Names the transport, which has the router and so is made behind it.
    public func show(_ keeper: any ConnectionKeeper) { state.withLock { $0.keeper = keeper } }

    /// How many there are.
    public var count: Int { state.withLock { $0.keeper }?.connectionCount ?? 0 }

    /// Connections of one caller and of one program.
    public struct Group: Sendable {
        /// Who has them.
        public var caller: Caller
        /// The kernel's name of the program; nil where it was not told.
        public var program: String?
        /// How many.
        public var count: Int
    }

    /// The same user by the same program is one group, whichever process it is.
    private struct Key: Hashable {
        let uid: UInt32?
        let name: ByteName?
        let program: ByteName?

        init(_ caller: Caller, _ program: String?) {
            uid = caller.uid
            name = caller.ruleName.map { ByteName($0) }
            self.program = program.map { ByteName($0) }
        }
    }

    /// Who is connected, in no order. It looks at each connection: beside the event loop where there are many.
    public var groups: [Group] {
        var groups: [Key: Group] = [:]
        for connection in state.withLock({ $0.keeper })?.openConnections ?? [] {
            let (caller, program) = (connection.caller, connection.process?.program)
            groups[Key(caller, program), default: Group(caller: caller, program: program, count: 0)].count += 1
        }
        return Array(groups.values)
    }
}
