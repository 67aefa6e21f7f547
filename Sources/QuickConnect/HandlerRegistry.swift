import Synchronization

/// The handlers that clients have registered: names, and the connections that answer for them.
public final class HandlerRegistry: Sendable {
    private struct Handler {
        let session: Session
        let isCommand: Bool
    }

    private let handlers = Mutex<[String: Handler]>([:])
    private let commandRule: AllowRule?
    private let ownUID: UInt32

    /// A registry that no client can reach, for a table that is only checked.
    public static var none: HandlerRegistry { HandlerRegistry(commandRule: nil, ownUID: 0) }

    init(commandRule: AllowRule?, ownUID: UInt32) {
        self.commandRule = commandRule
        self.ownUID = ownUID
    }

    /// Registers a handler of a connection; again is no mistake. `busy` where another connection holds the name.
    /// A connection that is closed, or cannot answer any more, registers nothing.
    public func register(_ name: String, of session: Session) throws(CommandError) {
        let caller = session.caller
        let mayCommand = caller.isPrivileged(ownUID: ownUID) || (commandRule?.names(caller) ?? false)
        let isCommand = mayCommand && !MappingDeclaration.reservedNames.contains(name)
        let holder = handlers.withLock { handlers -> Caller? in
            guard session.answers else { return nil }
            if let holder = handlers[name], holder.session !== session { return holder.session.caller }
            handlers[name] = Handler(session: session, isCommand: isCommand)
            return nil
        }
        if let holder {
            throw CommandError(.busy, "the handler '\(name)' is registered by another connection (\(holder))")
        }
    }

    /// Takes a handler back. `notFound` where this connection has no such handler.
    public func remove(_ name: String, of session: Session) throws(CommandError) {
        let isRemoved = handlers.withLock { handlers in
            guard handlers[name]?.session === session else { return false }
            handlers[name] = nil
            return true
        }
        guard isRemoved else { throw CommandError(.notFound, "this connection has no handler '\(name)'") }
    }

    func removeAll(of session: Session) {
        handlers.withLock { handlers in
            for (name, handler) in handlers where handler.session === session { handlers[name] = nil }
        }
    }

    func session(of name: String) -> Session? { handlers.withLock { $0[name]?.session } }

    /// The connection that answers for a handler; nil where there is none, or where it must be a command and is not.
    func session(of name: String, asCommand: Bool) -> Session? {
        handlers.withLock { handlers in
            guard let handler = handlers[name], handler.isCommand || !asCommand else { return nil }
            return handler.session
        }
    }

    func isCommand(_ name: String) -> Bool { handlers.withLock { $0[name]?.isCommand ?? false } }

    /// The handlers that are commands by themselves.
    public var commandNames: [String] {
        handlers.withLock { $0.filter(\.value.isCommand).keys.sorted() }
    }

    /// The handlers, and who answers for them.
    public var holders: [String: Caller] { handlers.withLock { $0.mapValues(\.session.caller) } }
}
