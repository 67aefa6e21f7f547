import JSON
import QuickConnect

/// `registerHandler [name, {cancel}]`: calls mapped to `script:name` go to this connection from now on. With `cancel`
/// it is told when nobody waits for an answer any more. Returns null, or `{"warning"}` if no call can come.
struct RegisterHandlerBCO: BCO {
    let router: Router
    /// Told of each handler that has come, and of whose it is.
    let registered: @Sendable (String, Caller) -> Void

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        guard let name = call.string(0), !name.isEmpty, name.utf8.count <= Limits.nameBytes else {
            throw .invalid("/0", expected: "name, a string of 1 to \(Limits.nameBytes) bytes", got: call.gist(0))
        }
        var options = try OptionReader(call, 1, known: ["cancel"])
        let hearsCancel = options.boolean("cancel") ?? false
        try options.finish()
        try router.register(name, of: call.connection, hearsCancel: hearsCancel)
        registered(name, call.caller)
        let doubt = router.frontController.doubt(ofHandler: name, call.caller)
        return .result(doubt.map { ["warning": .string($0)] } ?? .null)
    }
}

/// `removeHandler [name]`: removes a handler of this connection.
struct RemoveHandlerBCO: BCO {
    let handlers: HandlerRegistry

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        try handlers.remove(call.string(0) ?? "", of: call.connection)
        return .result(.null)
    }
}

/// Refuses a picker's command if no picker is running, and says how to start one. A picker registers a handler with the
/// command's own name.
struct PickerValCO: ValCO {
    let handlers: HandlerRegistry

    func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome {
        if handlers.has(call.command) { return .accept }
        throw CommandError(
            .unavailable,
            "no picker has registered the handler '\(call.command)'; the user of the display starts it with "
                + "«systemctl --user start quickconnect-picker» (package quickconnect-picker)",
            details: ["fix": "systemctl --user start quickconnect-picker"]
        )
    }
}

/// Replies `showPickResults [text, …]`, as in the book: with the answer of the picker before it, or with what the
/// caller sent.
struct PickResultsVCO: VCO {
    func show(_ call: borrowing Call) throws(CommandError) -> ViewOutcome {
        .reply(.array(Self.results(of: call)), under: "showPickResults")
    }

    private static func results(of call: borrowing Call) -> [JSONValue] {
        guard let answer = call.results.last?.value else {
            var sent: [JSONValue] = []
            for index in 0..<call.argumentCount { sent.append(call.argument(index).value) }
            return sent
        }
        // The page expects the text as the first item.
        return answer.arrayValue ?? [answer]
    }
}
