import QuickConnect

/// A history's mappings, as the daemon's builder takes them.
struct RealMappings {
    let journal: Journal

    func table(_ commands: [MappedCommand], _ router: Router, _ permissions: Permissions) throws -> MappingTable {
        var builder = MappingTableBuilder()
        var objects: [String: any CommandObject] = [:]
        for command in commands {
            builder.add(declaration(of: command))
            for part in command.parts { objects[part.name] = object(part) }
        }
        return try builder.build(
            catalog: ShippedCatalog.make(router, permissions).merging(objects) { _, own in own },
            scripts: { HandlerCommandObject($0, handlers: router.handlers) },
            declared: { name, _ in ValueCommandObject(name, router.values) },
            accounts: TestAccounts()
        ).table
    }

    private func declaration(of command: MappedCommand) -> MappingDeclaration {
        let place = SourceLocation(file: "history.yaml", line: 1, column: 1)
        var declaration = MappingDeclaration(Located(command.name, at: place))
        declaration.timeout = command.patience.timeout
        if command.takesNumber { declaration.parameters = ParameterList([Parameter("number", .integer)]) }
        if let allowed = command.allowed {
            let users = allowed.map { Located(Device.user($0), at: place) }
            declaration.allow = MappingDeclaration.Allow(users: users, location: place)
        }
        // A command that does nothing says so.
        if command.parts.isEmpty, command.name != MappingDeclaration.defaultName { declaration.phases[.view] = [] }
        for part in command.parts {
            var name = part.name
            if case .handler(let handler) = part.way { name = "script:\(handler)" }
            declaration.phases[part.phase, default: []].append(Located(name, at: place))
        }
        return declaration
    }

    private func object(_ part: Part) -> (any CommandObject)? {
        switch part.way {
        case .shipped, .handler: nil
        case .plain: ModelledObject(part: part, journal: journal)
        case .readily, .quick, .promise, .operation, .deaf: WaitingModelledObject(part: part, journal: journal)
        }
    }
}
