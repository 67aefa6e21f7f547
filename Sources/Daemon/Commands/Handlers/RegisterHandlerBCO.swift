import JSON
import QuickConnect

/// `registerHandler [name, {cancel}]`: calls mapped to `script:name` go to this connection from now on. With `cancel`
/// it is told when nobody waits for an answer any more. Returns null, or `{"warning"}` if no call would reach it.
struct RegisterHandlerBCO: BCO {
    private let router: Router

    init(_ router: Router) { self.router = router }

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        guard let name = call.string(0), !name.isEmpty, name.utf8.count <= Limits.nameBytes else {
            throw .invalid("/0", expected: "name, a string of 1 to \(Limits.nameBytes) bytes", got: call.gist(0))
        }
        var options = try OptionReader(call.object(1), field: "/1", known: ["cancel"])
        let hearsCancel = options.boolean("cancel") ?? false
        try options.finish()
        try router.register(name, of: call.connection, hearsCancel: hearsCancel)
        guard router.frontController.currentTable.hides(handler: name) else { return .result(.null) }
        let warning =
            "'\(name)' is a command of the mappings already, so no call comes to this handler: give it another name, or "
            + "map the command to script:\(name)"
        return .result(["warning": .string(warning)])
    }
}
