import JSON
import QuickConnect

/// `registerHandler [name]`: calls mapped to `script:name` go to this connection from now on.
struct RegisterHandlerBCO: BCO {
    private let router: Router

    init(_ router: Router) { self.router = router }

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        guard let name = call.string(0), !name.isEmpty, name.utf8.count <= Limits.nameBytes else {
            throw .invalid("/0", expected: "name, a string of 1 to \(Limits.nameBytes) bytes")
        }
        try router.register(name, of: call.connection)
        return .result(.null)
    }
}
