import JSON
import QuickConnect

/// `registerHandler [name, {cancel}]`: calls mapped to `script:name` go to this connection from now on. With `cancel` it is
/// told of those whose answer nobody waits for any more.
struct RegisterHandlerBCO: BCO {
    private let router: Router

    init(_ router: Router) { self.router = router }

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        guard let name = call.string(0), !name.isEmpty, name.utf8.count <= Limits.nameBytes else {
            throw .invalid("/0", expected: "name, a string of 1 to \(Limits.nameBytes) bytes")
        }
        var options = try OptionReader(call.object(1), field: "/1", known: ["cancel"])
        let hearsCancel = options.boolean("cancel") ?? false
        try options.finish()
        try router.register(name, of: call.connection, hearsCancel: hearsCancel)
        return .result(.null)
    }
}
