import JSON
import Synchronization

/// The handlers that clients have registered: names, and the connections that answer for them.
public final class HandlerRegistry: Sendable {
    private struct Handler {
        let client: any CallConnection
        var isCommand: Bool
        let hearsCancel: Bool
        /// Whether a reload forbids its client to answer. It is as if nobody had registered the name, until a reload allows
        /// it again.
        var sleeps = false
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

        /// - Returns: whether it slept.
        mutating func take(_ name: ByteName) -> Bool {
            let taken = handlers.removeValue(forKey: name)
            if taken?.isCommand ?? false { index = nil }
            return taken?.sleeps ?? false
        }

        /// - Returns: whether it slept; nil if the connection did not have the name.
        @discardableResult
        mutating func take(_ name: ByteName, from client: any CallConnection) -> Bool? {
            names[ObjectIdentifier(client)]?.remove(name) == nil ? nil : take(name)
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
    /// A connection loses a name to another one if it can no longer answer or may not, or if the other one may make a
    /// command of the name and it may not.
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
        var loser: (client: any CallConnection, sleeps: Bool)?
        let refusal = state.withLock { state -> CommandError? in
            guard client.answers else { return nil }
            if let handler = state.handlers[ByteName(name)], handler.client !== client {
                let holder = handler.client
                let mayTake = isFree && mayCommand && !permissions.mayHandleCommands(holder.caller)
                guard mayTake || handler.sleeps || !holder.answers else {
                    let program = holder.process?.name.map { ", \($0.shortened)" } ?? ""
                    let holder = "registered by another connection (\(holder.caller)\(program))"
                    return CommandError(.busy, "the handler '\(name)' is \(holder)")
                }
                loser = (holder, handler.sleeps)
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
            if let loser { state.take(ByteName(name), from: loser.client) }
            isNew = state.handlers[ByteName(name)]?.sleeps ?? true
            state.names[ObjectIdentifier(client), default: []].insert(ByteName(name))
            state.handlers[ByteName(name)] = Handler(client: client, isCommand: isCommand, hearsCancel: hearsCancel)
            if isCommand, isNew { state.index = nil }
            return nil
        }
        if let refusal { throw refusal }
        if let loser {
            forgot(name, of: loser.client, loser.sleeps)
            let told = loser.sleeps ? Self.loss(of: name) : permissions.loss(of: name)
            if loser.client.answers { loser.client.report(told, of: "registerHandler", form: .bridge) }
        }
        if isNew { report(name, isRegistered: true) }
    }

    /// Removes a handler. Throws `notFound` if this connection has no such handler.
    public func remove(_ name: String, of client: any CallConnection) throws(CommandError) {
        guard let slept = state.withLock({ $0.take(ByteName(name), from: client) }) else {
            throw CommandError(.notFound, "this connection has no handler '\(name.shortened)'")
        }
        forgot(name, of: client, slept)
    }

    private func forgot(_ name: String, of client: any CallConnection, _ slept: Bool) {
        events.memory.add(-Self.memory(of: name), for: client.caller)
        if !slept { report(name, isRegistered: false) }
    }

    /// What the client of a handler that sleeps is told when it loses the name, too.
    private static func loss(of name: String) -> CommandError {
        CommandError(.denied, "another client answers for the handler '\(name)' now, for which this one may not")
    }

    /// - Returns: what is left to do: who wants to know is told of each one, unless it is registered again by then.
    func removeAll(of client: any CallConnection) -> Connection.Steps {
        let names = state.withLock { state in
            let names = state.names.removeValue(forKey: ObjectIdentifier(client)) ?? []
            return names.map { (name: $0, slept: state.take($0)) }
        }
        events.memory.add(-names.reduce(0) { $0 + Self.memory(of: $1.name.text) }, for: client.caller)
        return names.filter { !$0.slept }.map { name, _ in
            { if !self.has(name.text) { self.report(name.text, isRegistered: false) } }
        }
    }

    /// About what a handler takes, in bytes.
    private static func memory(of name: String) -> Int { 512 + 2 * name.utf8.count }

    /// Lets the handlers sleep for which their clients may no longer answer, and wakes those for which they may again.
    /// Running calls are still answered.
    func recheck(_ refusal: (_ handler: String, Caller) -> CommandError?) {
        for (name, client) in state.withLock({ $0.handlers.map { ($0.key, $0.value.client) } }) {
            let refusal = refusal(name.text, client.caller)
            let isChanged = state.withLock { state in
                guard let now = state.handlers[name], now.client === client, now.sleeps != (refusal != nil) else {
                    return false
                }
                state.handlers[name]?.sleeps = refusal != nil
                return true
            }
            guard isChanged else { continue }
            // Its client may have gone meanwhile.
            if has(name.text) == (refusal == nil) { report(name.text, isRegistered: refusal == nil) }
            guard var refusal else { continue }
            refusal.message += "; after a reload that allows it, this client answers again"
            client.report(refusal, of: "registerHandler", form: .bridge)
        }
        recheckCommands()
    }

    /// Which handlers are commands of their own, after the rule has changed.
    private func recheckCommands() {
        let ended = state.withLock { state in
            let ended = state.handlers.filter { _, handler in
                handler.isCommand && !handler.sleeps && !permissions.mayHandleCommands(handler.client.caller)
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

    /// What to wait for when this handler is called. Throws `unavailable` if nobody has registered it, or who has may not
    /// answer for it now.
    func wait(for name: String) throws(CommandError) -> HandlerWait {
        let (wait, sleeps) = state.withLock { state in
            let handler = state.handlers[ByteName(name)]
            let wait = handler.map { HandlerWait(name, of: $0.client, hearsCancel: $0.hearsCancel) }
            return (wait, handler?.sleeps ?? false)
        }
        if let wait, !sleeps { return wait }
        let lack =
            sleeps
            ? "the client that has registered the handler '\(name)' may not answer for it: «answeredBy» in the mappings does not name its user"
            : "no client has registered the handler '\(name)'"
        throw CommandError(.unavailable, lack)
    }

    /// Whether a client has registered that handler, and may answer for it.
    public func has(_ name: String) -> Bool { state.withLock { $0.handlers[ByteName(name)]?.sleeps == false } }

    /// Whether a client has registered anything.
    func hasHandlers(_ client: any CallConnection) -> Bool {
        state.withLock { !($0.names[ObjectIdentifier(client)]?.isEmpty ?? true) }
    }

    /// How many handlers there are.
    public var count: Int { state.withLock { $0.handlers.count { !$0.value.sleeps } } }

    /// The handlers, and who answers for them.
    public var holders: [(name: String, client: any CallConnection)] { holders(max: .max) }

    /// The handlers, at most so many, in no particular order, and who answers for them.
    public func holders(max: Int) -> [(name: String, client: any CallConnection)] {
        state.withLock { state in
            state.handlers.lazy.filter { !$0.value.sleeps }.prefix(max)
                .map { (name: $0.key.text, client: $0.value.client) }
        }
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
