import JSON

@testable import Commands
@testable import QuickConnect

/// The commands of the session: those of the daemon that are about connections, and some that wait in each phase.
struct SessionMappings {
    private let router: Router
    private let catalog: [String: any CommandObject]
    private static let place = SourceLocation(file: "session", line: 1, column: 1)

    init(_ router: Router, _ permissions: Permissions, _ waits: SessionWaits) {
        self.router = router
        let objects: [any CommandObject] = [
            CancelBCO(), RegisterHandlerBCO(router: router, registered: { _, _ in }),
            RemoveHandlerBCO(handlers: router.handlers),
            CommandsBCO(controller: router.frontController),
            SubscribeValCO(controller: router.frontController), SubscribeBCO(router: router),
            UnsubscribeBCO(events: router.events),
            PostBCO(events: router.events, values: router.values, permissions: permissions),
            EchoBCO(), FailBCO(), LoudVCO(), WaitValCO(waits), WaitBCO(waits), WaitVCO(waits), WaitECO(waits),
        ]
        catalog = Dictionary(uniqueKeysWithValues: objects.map { ("\(type(of: $0))", $0) })
    }

    /// - Parameter users: who answers for the handlers of the mappings.
    func table(answeredBy users: [String]) -> MappingTable {
        var builder = MappingTableBuilder()
        func map(_ command: String, _ names: [Phase: [String]], timeout: Duration? = nil) {
            var declaration = MappingDeclaration(located(command))
            declaration.phases = names.mapValues { $0.map(located) }
            declaration.timeout = timeout
            declaration.answeredBy = MappingDeclaration.Allow(users: users.map(located), location: Self.place)
            builder.add(declaration)
        }
        map("ping", [.view: []])
        map("echo", [.business: ["EchoBCO"]])
        map("loud", [.view: ["LoudVCO", "LoudVCO"]])
        map("fail", [.business: ["FailBCO"], .error: ["WaitECO", "script:bell"]])
        map("wait", [.validation: ["WaitValCO"], .business: ["WaitBCO"], .view: ["LoudVCO", "WaitVCO"]])
        map("late", [.business: ["WaitBCO"], .error: ["WaitECO"]], timeout: .nanoseconds(1))
        map("slow", [.business: ["WaitBCO"]], timeout: .seconds(3600))
        map("ask", [.business: ["script:lamp"]])
        map("asks", [.validation: ["script:lamp"], .business: ["WaitBCO"], .view: ["script:lamp", "LoudVCO"]])
        map("askLate", [.business: ["script:lamp"], .error: ["script:bell"]], timeout: .nanoseconds(1))
        map("commands", [.business: ["CommandsBCO"]])
        map("cancel", [.business: ["CancelBCO"]])
        map("subscribe", [.validation: ["SubscribeValCO"], .business: ["SubscribeBCO"]])
        map("unsubscribe", [.business: ["UnsubscribeBCO"]])
        map("post", [.business: ["PostBCO"]])
        map("registerHandler", [.business: ["RegisterHandlerBCO"]])
        map("removeHandler", [.business: ["RemoveHandlerBCO"]])
        map("volume", [.view: []])
        var level = MappingDeclaration(located("level"))
        level.value = ValueDeclaration(Parameter("value", .integer), initial: 1)
        builder.add(level)
        do throws(ConfigurationMistakes) {
            let (catalog, router) = (catalog, router)
            return try builder.build(
                catalog: catalog,
                scripts: { HandlerCommandObject($0, handlers: router.handlers) },
                declared: { name, _ in ValueCommandObject(name, router.values) },
                accounts: SessionAccounts()
            ).table
        } catch {
            fatalError("\(error)")
        }
    }

    private func located(_ text: String) -> Located<String> { Located(text, at: Self.place) }
}

private struct SessionAccounts: Accounts {
    func uid(ofUser name: String) -> UInt32? { name == "alice" ? 1000 : nil }
    func gid(ofGroup name: String) -> UInt32? { nil }
}

private struct EchoBCO: BCO {
    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        var values: [JSONValue] = []
        for index in 0..<call.argumentCount { values.append(call.argument(index).value) }
        return .result(.array(values))
    }
}

private struct FailBCO: BCO {
    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        throw CommandError(.busy, "taken")
    }
}

/// Replies, whoever has replied before.
private struct LoudVCO: VCO {
    func show(_ call: borrowing Call) throws(CommandError) -> ViewOutcome { .reply(1) }
}

private struct WaitValCO: WaitingValCO {
    let waits: SessionWaits
    init(_ waits: SessionWaits) { self.waits = waits }
    func validate(_ call: borrowing Call) throws(CommandError) -> Awaited<ValidationOutcome> { waits.wait(.accept) }
}

private struct WaitBCO: WaitingBCO {
    let waits: SessionWaits
    init(_ waits: SessionWaits) { self.waits = waits }
    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> { waits.wait(.result(2)) }
}

private struct WaitVCO: WaitingVCO {
    let waits: SessionWaits
    init(_ waits: SessionWaits) { self.waits = waits }
    func show(_ call: borrowing Call) throws(CommandError) -> Awaited<ViewOutcome> { waits.wait(.reply(3)) }
}

private struct WaitECO: WaitingECO {
    let waits: SessionWaits
    init(_ waits: SessionWaits) { self.waits = waits }
    func see(_ error: CommandError, of call: borrowing Call) throws(CommandError) -> Awaited<ErrorOutcome> {
        waits.wait(.proceed)
    }
}
