import QuickConnect

extension Model {
    // MARK: The ends

    mutating func endInput(_ connection: Int) {
        guard isOpen(connection) else { return }
        ended.insert(connection)
        let isFinished = waitingCount(connection) == 0
        retire(connection)
        if isFinished { tell(connection, Told.finished(connection)) }
    }

    mutating func close(_ connection: Int) {
        guard !closed.contains(connection) else { return }
        closed.insert(connection)
        retire(connection)
        subscriptions.removeAll { $0.client == connection }
        inAnyOrder(kept.filter { $0.connection == connection }) { $0.interrupt($1, .cancelled) }
    }

    mutating func reload(_ number: Int) {
        table = number
        let changed = handlers.indices.filter {
            handlers[$0].sleeps == mayAnswer(handlers[$0].name, handlers[$0].client)
        }
        for index in changed { handlers[index].sleeps.toggle() }
        let told = changed.map { handlers[$0] }
        let events = told.map { ("handlers", #"{"name":"\#($0.name)","registered":\#(!$0.sleeps)}"#) }
        inAnyOrder(lines(events) + told.filter(\.sleeps).map(Self.loss)) { $0.tell($1.client, $1.line) }
        publish([("commands", "null")])
    }

    func mayAnswer(_ handler: String, _ connection: Int) -> Bool {
        !isUsed(handler) || Device.mayHandleCommands(connection)
    }

    /// What the client of a handler is told that it has lost.
    static func loss(_ handler: Handler) -> (client: Int, line: String) {
        (handler.client, Told.error(handler.client, .bridge, "denied", of: "registerHandler", nil))
    }
}

extension Model {
    // MARK: The daemon's own command objects

    mutating func perform(_ name: String, _ run: Run) -> Outcome {
        let strings = run.line.arguments.map { $0.replacing("\"", with: "") }
        let (connection, done) = (run.connection, Outcome.give("null", under: nil, ends: false))
        switch name {
        case "CancelBCO":
            inAnyOrder(kept.filter { $0.connection == connection && $0.line.id == strings[0] }) {
                $0.interrupt($1, .cancelled)
            }
        case "RegisterHandlerBCO": return register(strings[0], connection, hearsCancel: strings[1].contains("true"))
        case "RemoveHandlerBCO":
            let index = handlers.firstIndex { $0.name == strings[0] && $0.client == connection }
            guard let index else { return .fail(.notFound) }
            let removed = handlers.remove(at: index)
            if !removed.sleeps { publish([("handlers", #"{"name":"\#(strings[0])","registered":false}"#)]) }
        case "SubscribeValCO": return strings.count > device.maxSubscriptions ? .fail(.overloaded) : .next
        case "SubscribeBCO": return subscribe(strings, connection, run.line.form)
        case "UnsubscribeBCO":
            subscriptions.removeAll { $0.client == connection && strings.contains($0.event) }
        default:
            guard !["handlers", "commands"].contains(strings[0]) else { return .fail(.denied) }
            publish([(strings[0], run.line.arguments[1])])
        }
        return done
    }

    mutating func register(_ name: String, _ connection: Int, hearsCancel: Bool) -> Outcome {
        guard mayAnswer(name, connection) else {
            handlers.removeAll { $0.name == name && $0.client == connection }
            return .fail(.denied)
        }
        if isOpen(connection) {
            let mine = handlers.filter { $0.client == connection }.map(\.name)
            let other = handlers.first { $0.name == name && $0.client != connection }
            if let other {
                let mayTake = Device.mayHandleCommands(connection) && !Device.mayHandleCommands(other.client)
                guard mayTake && !isUsed(name) || other.sleeps else { return .fail(.busy) }
            }
            if mine.count >= device.maxHandlers, !mine.contains(name) { return .fail(.overloaded) }
            handlers.removeAll { $0.name == name }
            if let other {
                if !other.sleeps { publish([("handlers", #"{"name":"\#(name)","registered":false}"#)]) }
                tell(other.client, Self.loss(other).line)
            }
            handlers.append(Handler(name: name, client: connection, hearsCancel: hearsCancel))
            if !mine.contains(name) { publish([("handlers", #"{"name":"\#(name)","registered":true}"#)]) }
        }
        let isMapped = commands.dropFirst().contains { $0.name == name }
        let isHidden = !isUsed(name) && (isMapped || !Device.mayHandleCommands(connection))
        return .give(isHidden ? #"{"warning"}"# : "null", under: nil, ends: false)
    }

    mutating func subscribe(_ events: [String], _ connection: Int, _ form: WireForm) -> Outcome {
        for event in events {
            if let command = commands.dropFirst().first(where: { $0.name == event }), !may(connection, command) {
                return .fail(.denied)
            }
        }
        if !closed.contains(connection) {
            let known = Set(subscriptions.filter { $0.client == connection }.map(\.event)).union(events)
            if known.count > device.maxSubscriptions { return .fail(.overloaded) }
            subscriptions.removeAll { $0.client == connection && events.contains($0.event) }
            subscriptions += events.map { Subscription(event: $0, client: connection, form: form) }
        }
        return .give("null", under: nil, ends: false)
    }

    mutating func publish(_ events: [(name: String, value: String)]) {
        inAnyOrder(lines(events)) { $0.tell($1.client, $1.line) }
    }

    /// What the subscribers of events get.
    func lines(_ events: [(name: String, value: String)]) -> [(client: Int, line: String)] {
        events.flatMap { event in
            subscriptions.filter { $0.event == event.name }.map {
                ($0.client, Told.line($0.client, $0.form, $0.event, event.value, nil))
            }
        }
    }
}
