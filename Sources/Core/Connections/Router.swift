public import JSON

/// What all connections share: the front controller, events, handlers, the device's values, and the list of open
/// connections.
public struct Router: Sendable {
    /// Takes the calls.
    public let frontController: FrontController
    /// The handlers that clients have registered.
    public let handlers: HandlerRegistry
    /// The subscriptions.
    public let events: EventHub
    /// The device's values.
    public let values: ValueStore
    /// The connections that are open now.
    public let connections = OpenConnections()
    /// What the daemon keeps for its peers.
    public var memory: PeerMemory { events.memory }

    /// - Parameter values: nil keeps no values over restarts.
    public init(
        _ frontController: FrontController,
        _ handlers: HandlerRegistry,
        _ events: EventHub,
        _ values: ValueStore? = nil
    ) {
        self.values = values ?? ValueStore(events)
        self.frontController = frontController
        self.handlers = handlers
        self.events = events
    }

    /// Registers a handler of a connection. Throws `denied` if it may not answer for that name, `busy` if another one
    /// that may make a command of it, or answers for a mapping, has it, and `overloaded` if it has too many.
    /// - Parameter hearsCancel: whether the client is told when nobody waits for its answer any more.
    public func register(
        _ name: String,
        of client: any CallConnection,
        hearsCancel: Bool = false
    ) throws(CommandError) {
        if frontController.refusal(toAnswerFor: name, client.caller) == nil {
            let isFree = !frontController.currentTable.usesHandler(name)
            try handlers.register(name, of: client, hearsCancel: hearsCancel, isFree: isFree)
        }
        // A reload may have run before this handler was registered, and so have missed it.
        guard let refusal = frontController.refusal(toAnswerFor: name, client.caller) else { return }
        // The client is told that it has no such handler, so one that slept must not wake.
        _ = try? handlers.remove(name, of: client)
        throw refusal
    }

    /// Whether nobody has registered a handler that a call of it needs.
    package func lacksHandler(of command: String) -> Bool {
        guard let entry = frontController.currentTable[command] else { return !handlers.has(command) }
        let steps = [Phase.validation, .business, .view].flatMap { entry.steps(of: $0) }
        return steps.contains { HandlerUses.handler($0.name).map { !handlers.has($0) } ?? false }
    }

    /// Subscribes a connection to all of the events, or to none. Throws `denied` if it may not have one of them,
    /// `notFound` if the option `value` is true and one of them is not a value, otherwise as
    /// ``EventHub/subscribe(_:to:options:form:)``.
    public func subscribe(
        _ client: any CallConnection,
        to names: [String],
        options: JSONObject,
        form: WireForm
    ) throws(CommandError) {
        if let refusal = refusal(ofEvents: names, for: client) { throw refusal }
        var options = options
        if options["value"] == true {
            for name in names { try checkIsValue(name) }
            options["value"] = nil
        }
        try events.subscribe(client, to: names, options: options, form: form)
        // As in ``register(_:of:hearsCancel:)``.
        if let refusal = refusal(ofEvents: names, for: client) {
            events.unsubscribe(client, from: names)
            throw refusal
        }
    }

    /// What to say of events that nobody on this device declares and whose names are nearly those of others: probably a
    /// mistake, but a client may post them later. Nil if there are none.
    public func doubt(of names: [String], for client: any CallConnection) -> String? {
        for name in names {
            let near = frontController.nearestEvents(name, for: client.caller, by: client.socketRule)
            guard !near.isEmpty else { continue }
            return
                "'\(name.shortened)' is not an event of this device\(NearestNames.question(near)) Nothing comes unless a program posts it."
        }
        return nil
    }

    /// So a client can ask for a value by its name, without the risk that it runs a command.
    private func checkIsValue(_ name: String) throws(CommandError) {
        let table = frontController.currentTable
        if let entry = table[name] {
            guard entry.value == nil else { return }
            throw CommandError(.notFound, Self.noValue(entry))
        }
        let values = table.entries.filter { $0.value != nil }.map(\.command)
        let nearest = NearestNames.find(name, among: values)
        throw CommandError(.notFound, "there is no value '\(name.shortened)'").asking(nearest)
    }

    private static func noValue(_ entry: MappingEntry) -> String {
        let name = entry.command.shortened
        return switch entry.kind {
        case .event, .schedule: "'\(name)' is \(entry.kind.noun), not a value; on('\(name)', …) hears it"
        case .stack, .value: "'\(name)' is a command, not a value"
        }
    }

    /// The events, sorted, each with the reason why this client cannot subscribe to it now, if there is one.
    /// - Parameters:
    ///   - max: how many of those that clients have made up.
    ///   - caller: the client.
    ///   - rule: the rule of its socket.
    public func knownEvents(
        max: Int,
        for caller: Caller,
        by rule: SocketRule?
    ) -> [(name: String, lack: CommandError?)] {
        events.names(max: max).union(values.all.map(\.name)).union(values.eventNames).sorted().map { name in
            (name, frontController.refusal(ofEvent: name, for: caller, by: rule) ?? events.lack(of: name))
        }
    }

    private func refusal(ofEvents names: [String], for client: any CallConnection) -> CommandError? {
        for name in names {
            guard let refusal = refusal(ofEvent: name, for: client) else { continue }
            let near = frontController.nearestEvents(name, for: client.caller, by: client.socketRule)
            return refusal.asking(near, instead: "the event '\(name.shortened)': nobody declares it")
        }
        return nil
    }

    private func refusal(ofEvent name: String, for client: any CallConnection) -> CommandError? {
        frontController.refusal(ofEvent: name, for: client.caller, by: client.socketRule)
    }

    /// Replaces the limits. Those of a line and of unread replies hold for connections that come from then on, the nesting
    /// of lines never.
    public func replaceLimits(_ new: Limits) {
        frontController.replaceLimits(new)
        handlers.replaceLimit(new.handlersPerConnection)
        events.replaceLimit(new.subscriptionsPerConnection)
        memory.replaceLimit(new)
    }

    /// Replaces the table. Handlers and subscriptions that the new one does not allow end, and their clients are told.
    /// Running calls keep the table they started with.
    /// - Returns: a message for each value that does not fit its declaration any more.
    @discardableResult
    public func replaceTable(_ new: MappingTable) -> [String] {
        let warnings = values.adopt(new)
        frontController.replaceTable(new)
        handlers.recheck { frontController.refusal(toAnswerFor: $0, $1) }
        events.recheck { refusal(ofEvent: $0, for: $1) }
        events.publish(Event(DaemonEvents.commands, JSONValue.null, kind: .message))
        return warnings
    }
}
