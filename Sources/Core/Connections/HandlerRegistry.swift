import JSON
import Synchronization

/// The handlers that clients have registered: names, and the connections that answer for them.
public final class HandlerRegistry: Sendable {
    private struct Handler {
        let client: any CallConnection
        var isCommand: Bool
        let hearsCancel: Bool
        /// Its entry as a command of its own.
        var command: Command?
    }

    /// The entry of a handler that is a command, and the table for which it was made.
    private final class Command {
        let entry: MappingEntry
        private(set) weak var table: MappingTable?

        init(_ entry: MappingEntry, of table: MappingTable) {
            self.entry = entry
            self.table = table
        }
    }

    private struct State {
        var handlers: [ByteName: Handler] = [:]
        /// The names that each connection holds.
        var names: [ObjectIdentifier: Set<ByteName>] = [:]
        /// An index of the handlers that are commands, to suggest one for a mistyped name; nil after they have changed.
        var index: NameIndex?

        mutating func take(_ name: ByteName) {
            if handlers.removeValue(forKey: name)?.isCommand ?? false { index = nil }
        }

        /// - Returns: whether the connection had the name.
        @discardableResult
        mutating func take(_ name: ByteName, from client: any CallConnection) -> Bool {
            guard names[ObjectIdentifier(client)]?.remove(name) != nil else { return false }
            take(name)
            return true
        }
    }

    /// With more handlers than this, none is suggested for a mistyped command: handlers come and go, and the index
    /// would be rebuilt each time.
    private static let maxIndexed = 256

    private let state = Mutex(State())
    private let permissions: Permissions
    private let events: EventHub
    private let limit: Atomic<Int>
    private let droppedAnswers = Atomic<Int>(0)

    /// A registry that no client can reach, for a table that is only validated.
    public static var none: HandlerRegistry {
        HandlerRegistry(permissions: Permissions(ownUID: 0), events: EventHub(limits: Limits()), limits: Limits())
    }

    /// - Parameter events: publishes the event `handlers`.
    public init(permissions: Permissions, events: EventHub, limits: Limits) {
        self.permissions = permissions
        self.events = events
        limit = Atomic(limits.handlersPerConnection)
    }

    func replaceLimit(_ new: Int) { limit.store(new, ordering: .relaxed) }

    /// Registers a handler of a connection; registering it again is allowed. Throws `busy` if another connection has
    /// registered the name, and `overloaded` if this one has registered too many. A connection that is closed, or can
    /// no longer answer, registers nothing. ``Router/register(_:of:hearsCancel:)`` checks whether the client may answer
    /// for that name.
    ///
    /// A connection loses a name to another one if it can no longer answer, or if the other one may make a command of the
    /// name and it may not.
    /// - Parameter isFree: whether no mapping uses the handler. If one does, whoever has it may answer for it.
    func register(
        _ name: String,
        of client: any CallConnection,
        hearsCancel: Bool,
        isFree: Bool
    ) throws(CommandError) {
        let limit = limit.load(ordering: .relaxed)
        let mayCommand = permissions.mayHandleCommands(client.caller)
        let isCommand = mayCommand && !MappingDeclaration.reservedNames.contains(name)
        var isNew = false
        var loser: (any CallConnection)?
        let refusal = state.withLock { state -> CommandError? in
            guard client.answers else { return nil }
            if let holder = state.handlers[ByteName(name)]?.client, holder !== client {
                let mayTake = isFree && mayCommand && !permissions.mayHandleCommands(holder.caller)
                guard mayTake || !holder.answers else {
                    let program = holder.process?.name.map { ", \($0.shortened)" } ?? ""
                    let holder = "registered by another connection (\(holder.caller)\(program))"
                    return CommandError(.busy, "the handler '\(name)' is \(holder)")
                }
                loser = holder
            }
            let names = state.names[ObjectIdentifier(client), default: []]
            guard names.count < limit || names.contains(ByteName(name)) else {
                loser = nil
                return CommandError(.overloaded, "this connection has \(limit) handlers; take one back")
            }
            guard names.contains(ByteName(name)) || events.memory.take(Self.memory(of: name), for: client.caller) else {
                loser = nil
                return events.memory.refusal(of: "no more handlers", for: client.caller)
            }
            if let loser { state.take(ByteName(name), from: loser) }
            state.names[ObjectIdentifier(client), default: []].insert(ByteName(name))
            state.handlers[ByteName(name)] = Handler(client: client, isCommand: isCommand, hearsCancel: hearsCancel)
            isNew = !names.contains(ByteName(name))
            if isCommand, isNew { state.index = nil }
            return nil
        }
        if let refusal { throw refusal }
        if let loser {
            events.memory.add(-Self.memory(of: name), for: loser.caller)
            report(name, isRegistered: false)
            if loser.answers { loser.report(permissions.loss(of: name), of: "registerHandler", form: .bridge) }
        }
        if isNew { report(name, isRegistered: true) }
    }

    /// Removes a handler. Throws `notFound` if this connection has no such handler.
    public func remove(_ name: String, of client: any CallConnection) throws(CommandError) {
        let isRemoved = state.withLock { $0.take(ByteName(name), from: client) }
        guard isRemoved else {
            throw CommandError(.notFound, "this connection has no handler '\(name.shortened)'")
        }
        events.memory.add(-Self.memory(of: name), for: client.caller)
        report(name, isRegistered: false)
    }

    /// - Returns: what is left to do: who wants to know is told of each one, unless it is registered again by then.
    func removeAll(of client: any CallConnection) -> Connection.Steps {
        let names = state.withLock { state in
            let names = state.names.removeValue(forKey: ObjectIdentifier(client)) ?? []
            for name in names { state.take(name) }
            return names
        }
        events.memory.add(-names.reduce(0) { $0 + Self.memory(of: $1.text) }, for: client.caller)
        return names.map { name in
            { if !self.has(name.text) { self.report(name.text, isRegistered: false) } }
        }
    }

    /// About what a handler takes, in bytes.
    private static func memory(of name: String) -> Int { 512 + 2 * name.utf8.count }

    /// Removes the handlers of clients that may no longer answer for them. Running calls are still answered.
    func recheck(_ refusal: (_ handler: String, Caller) -> CommandError?) {
        for (name, client) in state.withLock({ $0.handlers.map { ($0.key.text, $0.value.client) } }) {
            guard let refusal = refusal(name, client.caller) else { continue }
            do throws(CommandError) { try remove(name, of: client) } catch { continue }
            client.report(refusal, of: "registerHandler", form: .bridge)
        }
        recheckCommands()
    }

    /// Which handlers are commands of their own, after the rule has changed.
    private func recheckCommands() {
        let ended = state.withLock { state in
            let ended = state.handlers.filter { _, handler in
                handler.isCommand && !permissions.mayHandleCommands(handler.client.caller)
            }
            for (name, handler) in state.handlers where !MappingDeclaration.reservedNames.contains(name.text) {
                state.handlers[name]?.isCommand = permissions.mayHandleCommands(handler.client.caller)
            }
            state.index = nil
            return ended
        }
        for (name, handler) in ended {
            handler.client.report(permissions.end(ofCommand: name.text), of: "registerHandler", form: .bridge)
        }
    }

    private func report(_ name: String, isRegistered: Bool) {
        events.publish(
            Event(DaemonEvents.handlers, ["name": .string(name), "registered": .bool(isRegistered)], kind: .message)
        )
    }

    /// What to wait for when this handler is called; nil if nobody has registered it.
    func wait(for name: String) -> HandlerWait? {
        state.withLock { state in
            state.handlers[ByteName(name)].map { HandlerWait(name, of: $0.client, hearsCancel: $0.hearsCancel) }
        }
    }

    /// Whether a client has registered that handler.
    public func has(_ name: String) -> Bool { state.withLock { $0.handlers[ByteName(name)] != nil } }

    /// Whether a client has registered anything.
    func hasHandlers(_ client: any CallConnection) -> Bool {
        state.withLock { !($0.names[ObjectIdentifier(client)]?.isEmpty ?? true) }
    }

    /// How many handlers there are.
    public var count: Int { state.withLock { $0.handlers.count } }

    /// The handlers, and who answers for them.
    public var holders: [(name: String, client: any CallConnection)] { holders(max: .max) }

    /// The handlers, at most so many, in no particular order, and who answers for them.
    public func holders(max: Int) -> [(name: String, client: any CallConnection)] {
        state.withLock { $0.handlers.prefix(max).map { (name: $0.key.text, client: $0.value.client) } }
    }

    // MARK: Counts

    /// Answers dropped since the daemon started because nobody waited for them.
    public var droppedAnswerCount: Int { droppedAnswers.load(ordering: .relaxed) }

    func countDroppedAnswer() { droppedAnswers.add(1, ordering: .relaxed) }
}

extension HandlerRegistry: CommandHandlers {
    /// The entry of a handler that is a command of its own; nil if there is none, or if a mapping uses the handler.
    public func entry(of command: String, in table: MappingTable) -> MappingEntry? {
        // A handler that a mapping guards must not be callable past the mapping.
        guard !table.usesHandler(command) else { return nil }
        return state.withLock { state in
            let name = ByteName(command)
            guard let handler = state.handlers[name], handler.isCommand else { return nil }
            if let known = handler.command, known.table === table { return known.entry }
            let entry = table.entry(of: command, HandlerCommandObject(command, handlers: self))
            state.handlers[name]?.command = Command(entry, of: table)
            return entry
        }
    }

    /// The names of the handlers that are commands of their own.
    public var commandNames: [String] {
        state.withLock { $0.handlers.filter(\.value.isCommand).map(\.key.text).sorted() }
    }

    /// Handlers with similar names, nearest first.
    public func nearest(_ command: String) -> [String] {
        state.withLock { state in
            guard state.handlers.count <= Self.maxIndexed else { return [] }
            let index = state.index ?? NameIndex(state.handlers.filter(\.value.isCommand).map(\.key.text))
            state.index = index
            return index.nearest(command)
        }
    }
}
