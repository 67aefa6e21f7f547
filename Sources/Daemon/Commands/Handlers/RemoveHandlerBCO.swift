import JSON
import QuickConnect

/// `removeHandler [name]`: removes a handler of this connection.
struct RemoveHandlerBCO: BCO {
    private let handlers: HandlerRegistry

    init(_ handlers: HandlerRegistry) { self.handlers = handlers }

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        try handlers.remove(call.string(0) ?? "", of: call.connection)
        return .result(.null)
    }
}
