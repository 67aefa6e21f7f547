import JSON
import QuickConnect

/// `hello`: `{"protocol", "program", "version", "simulated": [device, …]}`.
struct HelloBCO: BCO {
    private let identity: Identity

    init(_ identity: Identity) { self.identity = identity }

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        .result([
            "protocol": .integer(Identity.protocolVersion),
            "program": .string(Identity.program),
            "version": .string(identity.version),
            "simulated": .array(identity.simulated.map(JSONValue.string)),
        ])
    }
}
