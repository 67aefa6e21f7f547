import JSON
import QuickConnect

/// `registerHandler [name]`: calls mapped to `script:name` go to this connection from now on.
struct RegisterHandlerBCO: CommandObject {
    let phase = Phase.business

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        guard let name = call[0]?.stringValue, !name.isEmpty, name.utf8.count <= Limits.handlerNameBytes else {
            throw .invalid("/0", expected: "name, a string of 1 to \(Limits.handlerNameBytes) bytes")
        }
        let session = call.session
        try session.frontController.handlers.register(name, of: session)
        return .result(.null)
    }
}
