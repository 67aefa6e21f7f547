import JSON
import Synchronization

/// A transport that knows its open connections.
public protocol ConnectionKeeper: AnyObject, Sendable {
    var openConnections: [any CallConnection] { get }
    var connectionCount: Int { get }
}

/// The open connections, for `state`. The transport keeps them; this only refers to it, so connections need no further
/// bookkeeping.
public final class OpenConnections: Sendable {
    private struct State {
        weak var keeper: (any ConnectionKeeper)?
    }

    private let state = Mutex(State())

    /// No connections yet.
    public init() {}

    /// Sets the transport. It needs the router and is therefore made after this object.
    public func show(_ keeper: any ConnectionKeeper) { state.withLock { $0.keeper = keeper } }

    /// How many there are.
    public var count: Int { state.withLock { $0.keeper }?.connectionCount ?? 0 }

    /// The connections of one caller with one program.
    public struct Group: Sendable {
        /// Who has them.
        public var caller: Caller
        /// The program's name; nil if unknown.
        public var program: String?
        /// How many.
        public var count: Int
    }

    /// Connections of the same user with the same program form one group, whatever their processes.
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

    /// The groups, in no particular order. This goes through all connections, so with many of them it must not run on
    /// the event loop.
    public var groups: [Group] {
        var groups: [Key: Group] = [:]
        for connection in state.withLock({ $0.keeper })?.openConnections ?? [] {
            let (caller, program) = (connection.caller, connection.process?.name)
            groups[Key(caller, program), default: Group(caller: caller, program: program, count: 0)].count += 1
        }
        return Array(groups.values)
    }
}
