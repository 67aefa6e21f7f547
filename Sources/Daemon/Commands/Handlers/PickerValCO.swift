import JSON
import QuickConnect

/// Refuses a picker's command if no picker is running, and says how to start one. A picker registers a handler with the
/// command's own name.
struct PickerValCO: ValCO {
    private let handlers: HandlerRegistry

    init(_ handlers: HandlerRegistry) { self.handlers = handlers }

    func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome {
        if handlers.has(call.command) { return .accept }
        throw CommandError(
            .unavailable,
            "no picker has registered the handler '\(call.command)'; the user of the display starts it with "
                + "«systemctl --user start quickconnect-picker»",
            details: ["fix": "systemctl --user start quickconnect-picker"]
        )
    }
}
