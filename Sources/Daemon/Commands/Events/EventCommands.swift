import JSON
import QuickConnect

/// `post [name, data]`: sends one of the caller's events to the subscribers of that name. Of what mappings declare it sends
/// events, to those whom `post` names, and if the data fits.
struct PostBCO: BCO {
    let events: EventHub
    let values: ValueStore
    let permissions: Permissions

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        switch call.withString(0, { verdict($0) }) {
        case .free: break
        case .unfit, nil:
            throw .invalid("/0", expected: "name, a string of 1 to \(Limits.nameBytes) bytes", got: call.gist(0))
        case .taken:
            let name = call.string(0) ?? ""
            throw CommandError(.denied, "'\(name)' is an event of the device itself; choose another name for yours")
        case .declared(let entry):
            if let refusal = permissions.refusal(toPost: entry, call.caller) { throw refusal }
            try values.set(entry.command, to: call.argument(1).value, field: "/1")
            return .result(.null)
        }
        events.publish(Event(call.string(0) ?? "", call.argument(1), kind: .message))
        return .result(.null)
    }

    private enum Verdict {
        case free, taken, unfit
        case declared(MappingEntry)
    }

    /// Whether a name may be posted.
    private func verdict(_ name: UnsafeBufferPointer<UInt8>) -> Verdict {
        guard (1...Limits.nameBytes).contains(name.count) else { return .unfit }
        if DaemonEvents.isOne(name) { return .taken }
        return values.entry(of: name).map(Verdict.declared) ?? .free
    }
}

/// `subscribe [name, …, {options}]`: sends these events to this connection, in the form of this call. Answers
/// `{"warning": text}` for a name that is nearly one of the device's own, and null otherwise.
struct SubscribeBCO: BCO {
    let touchesDevice = true
    let router: Router

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        let wish = try call.handedOn { (call: borrowing Call) throws(CommandError) in
            try SubscriptionWish(call, limit: router.frontController.limits.subscriptionsPerConnection)
        }
        try router.subscribe(call.connection, to: wish.names, options: wish.options, form: call.request.form)
        let doubt = router.doubt(of: wish.names, for: call.connection)
        return .result(doubt.map { ["warning": .string($0)] } ?? .null)
    }
}

/// Checks the parameters of `subscribe`: one or more names, then at most one object of options.
struct SubscribeValCO: ValCO {
    let controller: FrontController

    func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome {
        .handOn(try SubscriptionWish(call, limit: controller.limits.subscriptionsPerConnection))
    }
}

/// What `subscribe` asks for.
struct SubscriptionWish: Sendable {
    var names: [String] = []
    var options: JSONObject = [:]

    init(_ call: borrowing Call, limit: Int) throws(CommandError) {
        let count = call.argumentCount
        let options = count > 1 ? call.object(count - 1) : nil
        let nameCount = options == nil ? count : count - 1
        guard nameCount <= limit else {
            throw CommandError(.overloaded, "a connection subscribes to at most \(limit) events, not to \(nameCount)")
        }
        var problems = FieldProblems()
        if nameCount == 0 { problems.add("/0", expected: "name, the name of an event", got: "nothing") }
        for index in 0..<nameCount {
            let name = call.string(index) ?? ""
            if name.isEmpty || name.utf8.count > Limits.nameBytes {
                let options = index > 0 && index == count - 1 ? ", or options, an object" : ""
                problems.add(
                    "/\(index)",
                    expected: "name, the name of an event, of at most \(Limits.nameBytes) bytes\(options)",
                    got: call.gist(index)
                )
            }
            names.append(name)
        }
        guard problems.isEmpty else { throw problems.error }
        if let options { self.options = try Self.options(options, field: "/\(nameCount)") }
    }

    /// The options of a device's event are few, so a longer object is refused.
    private static func options(_ text: JSONText, field: String) throws(CommandError) -> JSONObject {
        var count = 0
        text.forEachMember { name, value in
            count += value.count > 4096 || name.utf8.count > 128 ? 65 : 1
            return count <= 64
        }
        guard count <= 64 else {
            throw .invalid(field, expected: "options, an object of at most 64 short members", got: text.gist)
        }
        return text.value.objectValue ?? [:]
    }
}

/// `unsubscribe [name, …]`: stops sending these events; without a name, all events.
struct UnsubscribeBCO: BCO {
    let events: EventHub
    /// The most names in one call.
    private static let maxNames = 1024

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        guard call.argumentCount <= Self.maxNames else {
            let expected = "at most \(Self.maxNames) names; without any, all subscriptions end"
            throw .invalid("", expected: expected, got: "\(call.argumentCount)")
        }
        var names: [String] = []
        for index in 0..<call.argumentCount { if let name = call.string(index) { names.append(name) } }
        if names.isEmpty {
            events.unsubscribeAll(call.connection)
        } else {
            events.unsubscribe(call.connection, from: names)
        }
        return .result(.null)
    }
}
