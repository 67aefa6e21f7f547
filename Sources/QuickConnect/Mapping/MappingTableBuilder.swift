internal import JSON

/// Merges what the files say, in their order, and resolves it into a table.
public struct MappingTableBuilder {
    private var declarations: [ByteName: MappingDeclaration] = [:]
    private var mistakes: [ConfigurationMistake] = []

    public init() {}

    /// Adds what the next file says of a command.
    public mutating func add(_ declaration: MappingDeclaration) {
        let name = declaration.command.value
        let key = ByteName(name)
        if name == CommandError.replyCommand {
            mistakes.append(
                ConfigurationMistake(
                    "'error' is the command of error replies and cannot be mapped",
                    at: declaration.command.location
                )
            )
        } else if declaration.removes {
            guard declarations.removeValue(forKey: key) == nil else { return }
            let question = NearestNames.question(name, among: declarations.keys.map(\.text))
            mistakes.append(
                ConfigurationMistake(
                    "no file before maps '\(name)', so it cannot be removed\(question)",
                    at: declaration.command.location
                )
            )
        } else if declaration.replaces {
            declarations[key] = declaration
        } else {
            declarations[key, default: MappingDeclaration(declaration.command)].add(declaration)
        }
    }

    /// Resolves every name.
    /// - Parameters:
    ///   - catalog: the native command objects.
    ///   - scripts: makes the command object of `script:NAME`.
    ///   - accounts: the ids of users and groups.
    /// - Returns: the table, and warnings of what is odd but does no harm.
    public func build(
        catalog: [String: any CommandObject],
        scripts: (_ name: String) -> any CommandObject,
        accounts: any Accounts
    ) throws(ConfigurationMistakes) -> (table: MappingTable, warnings: [ConfigurationMistake]) {
        var resolver = Resolver(catalog: catalog, accounts: accounts, mistakes: mistakes)
        let defaultName = MappingDeclaration.defaultName
        let defaults =
            declarations[ByteName(defaultName)].map { resolver.resolve($0, before: nil, scripts) }
            ?? MappingEntry(defaultName)
        var entries: [MappingEntry] = []
        for (name, declaration) in declarations where name.text != defaultName {
            entries.append(resolver.resolve(declaration, before: defaults, scripts))
        }
        for (name, declaration) in declarations where declaration.phases.isEmpty && name.text != defaultName {
            resolver.mistakes.append(emptyEntry(declaration))
        }
        guard resolver.mistakes.isEmpty else { throw ConfigurationMistakes(resolver.mistakes.sorted()) }
        let table = MappingTable(entries: entries, defaults: defaults, handlerUses: resolver.handlerUses)
        return (table, resolver.warnings.sorted())
    }

    /// An entry for which no file gives a phase: a slip in a name, which would leave open what was meant.
    private func emptyEntry(_ declaration: MappingDeclaration) -> ConfigurationMistake {
        let name = declaration.command.value
        let others = declarations.values.lazy.filter { !$0.phases.isEmpty }.map(\.command.value)
        return ConfigurationMistake(
            """
            no file maps '\(name)' to a command object\(NearestNames.question(name, among: others)); \
            a command that does nothing has 'view: []'
            """,
            at: declaration.command.location
        )
    }

    private struct Resolver {
        let catalog: [String: any CommandObject]
        let accounts: any Accounts
        var mistakes: [ConfigurationMistake]
        var warnings: [ConfigurationMistake] = []
        var handlerUses = HandlerUses()

        mutating func resolve(
            _ declaration: MappingDeclaration,
            before defaults: MappingEntry?,
            _ scripts: (String) -> any CommandObject
        ) -> MappingEntry {
            var steps: [Phase: [MappingEntry.Step]] = [:]
            let answeredBy = declaration.answeredBy.map { rule($0) }
            for phase in Phase.allCases {
                steps[phase] = defaults?.steps(of: phase) ?? []
                for name in declaration.phases[phase] ?? [] {
                    guard let object = object(name, phase, scripts) else { continue }
                    if let handler = HandlerUses.handler(name.value) {
                        handlerUses.add(Located(handler, at: name.location), by: declaration.command.value, answeredBy)
                    }
                    steps[phase, default: []].append(MappingEntry.Step(name.value, object))
                }
            }
            return MappingEntry(
                declaration.command.value,
                help: declaration.help,
                parameters: declaration.parameters,
                validation: steps[.validation] ?? [],
                business: steps[.business] ?? [],
                view: steps[.view] ?? [],
                errorSteps: steps[.error] ?? [],
                rule: declaration.allow.map { rule($0) } ?? defaults?.rule,
                verbs: verbs(declaration),
                answeredBy: answeredBy,
                timeout: declaration.timeout ?? defaults?.timeout,
                location: declaration.command.location
            )
        }

        private mutating func object(
            _ name: Located<String>,
            _ phase: Phase,
            _ scripts: (String) -> any CommandObject
        ) -> StepObject? {
            guard let object = HandlerUses.handler(name.value).map(scripts) ?? catalog[name.value] else {
                let question = NearestNames.question(name.value, among: catalog.keys)
                mistakes.append(
                    ConfigurationMistake("unknown command object '\(name.value)'\(question)", at: name.location)
                )
                return nil
            }
            if let step = StepObject.make(object, in: phase) { return step }
            let phases = StepObject.phases(of: object).map { "'\($0.rawValue)'" }.joined(separator: " or ")
            mistakes.append(
                ConfigurationMistake(
                    "'\(name.value)' belongs under \(phases), not under '\(phase.rawValue)'",
                    at: name.location
                )
            )
            return nil
        }

        private mutating func verbs(_ declaration: MappingDeclaration) -> VerbRules {
            var rules: [ByteName: AllowRule] = [:]
            for verb in declaration.verbs {
                if let mistake = declaration.mistake(of: verb.text) { mistakes.append(mistake) }
                rules[ByteName(verb.text.value)] = rule(verb.allow)
            }
            return VerbRules(rules)
        }

        private mutating func rule(_ allow: MappingDeclaration.Allow) -> AllowRule {
            let (rule, unknown) = AllowRule.resolve(allow, accounts)
            warnings += unknown
            return rule
        }
    }
}

extension [ConfigurationMistake] {
    func sorted() -> [ConfigurationMistake] {
        sorted {
            ($0.location.file, $0.location.line, $0.location.column) < (
                $1.location.file, $1.location.line, $1.location.column
            )
        }
    }
}
