import CoreModel
import QuickConnect

/// Builds a table of test commands, and of shipped ones, with the mapping builder.
struct TestMappings {
    private var builder = MappingTableBuilder()
    private var objects: [String: any CommandObject] = [:]
    private var line = 0

    mutating func map(
        _ command: String,
        _ steps: TestStep...,
        parameters: [Parameter]? = nil,
        timeout: Duration? = nil,
        users: [String]? = nil,
        groups: [String] = [],
        answeredBy: [String] = ["bob"],
        _ change: (inout MappingDeclaration) -> Void = { _ in }
    ) {
        line += 1
        let place = SourceLocation(file: "test.yaml", line: line, column: 1)
        var declaration = MappingDeclaration(Located(command, at: place))
        declaration.parameters = parameters.map { ParameterList($0) }
        declaration.timeout = timeout
        if let users {
            declaration.allow = MappingDeclaration.Allow(
                users: users.map { Located($0, at: place) },
                groups: groups.map { Located($0, at: place) },
                location: place
            )
        }
        // A command that does nothing says so.
        if steps.isEmpty, command != MappingDeclaration.defaultName { declaration.phases[.view] = [] }
        for step in steps {
            let (name, phase) = add(step)
            declaration.phases[phase, default: []].append(Located(name, at: place))
        }
        // Clients of the user bob answer for the handlers of tests.
        let users = answeredBy.map { Located($0, at: place) }
        declaration.answeredBy = MappingDeclaration.Allow(users: users, location: place)
        change(&declaration)
        builder.add(declaration)
    }

    private mutating func add(_ step: TestStep) -> (name: String, phase: Phase) {
        switch step {
        case .script(let name, let phase): return ("script:\(name)", phase)
        case .shipped(let name, let phase): return (name, phase)
        case .object(let object, let phase):
            let name = "Test\(objects.count)"
            objects[name] = object
            return (name, phase)
        }
    }

    /// The commands of `mappings/daemon.yaml` that need nothing but the core.
    mutating func mapShipped() {
        let id = Parameter("id", .any)
        let name = Parameter("name", .string)
        var names = name
        names.isOptional = true
        names.repeats = true
        var options = Parameter("options", .object)
        options.isOptional = true
        var data = Parameter("data", .any)
        data.isOptional = true
        map("ping", parameters: [])
        for sensor in ["accel", "location"] { map(sensor) }
        map("hello", .shipped("HelloBCO", .business), parameters: [])
        map("commands", .shipped("CommandsBCO", .business), parameters: [])
        map("actFor", .shipped("ActForBCO", .business))
        map("cancel", .shipped("CancelBCO", .business), parameters: [id])
        map("subscribe", .shipped("SubscribeValCO", .validation), .shipped("SubscribeBCO", .business))
        map("unsubscribe", .shipped("UnsubscribeBCO", .business), parameters: [names])
        map("post", .shipped("PostBCO", .business), parameters: [name, data])
        map("registerHandler", .shipped("RegisterHandlerBCO", .business), parameters: [name, options])
        map("removeHandler", .shipped("RemoveHandlerBCO", .business), parameters: [name])
        map("logMessage", .shipped("LoggingVCO", .view))
    }

    func table(_ router: Router, _ permissions: Permissions) throws -> MappingTable {
        let catalog = ShippedCatalog.make(router, permissions).merging(objects) { _, own in own }
        return try builder.build(
            catalog: catalog,
            scripts: { HandlerCommandObject($0, handlers: router.handlers) },
            declared: { name, _ in ValueCommandObject(name, router.values) },
            accounts: TestAccounts()
        ).table
    }
}
