/// Merges what the files say, in their order, and resolves it into a table.
public struct MappingTableBuilder {
    private var declarations: [String: MappingDeclaration] = [:]
    private var mistakes: [ConfigurationMistake] = []

    public init() {}

    /// Adds what the next file says of a command.
    public mutating func add(_ declaration: MappingDeclaration) {
        let name = declaration.command.value
        if name == Reply.errorCommand {
            mistakes.append(
                ConfigurationMistake(
                    "'error' is the command of error replies and cannot be mapped",
                    at: declaration.command.location
                )
            )
        } else if declaration.removes {
            guard declarations.removeValue(forKey: name) == nil else { return }
            let question = NearestNames.question(name, among: declarations.keys)
            mistakes.append(
                ConfigurationMistake(
                    "no file before maps '\(name)', so it cannot be removed\(question)",
                    at: declaration.command.location
                )
            )
        } else if declaration.replaces {
            declarations[name] = declaration
        } else {
            declarations[name, default: MappingDeclaration(declaration.command)].add(declaration)
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
        scripts: (_ name: String, _ phase: Phase) -> any CommandObject,
        accounts: any Accounts
    ) throws(ConfigurationMistakes) -> (table: MappingTable, warnings: [ConfigurationMistake]) {
        var resolver = Resolver(catalog: catalog, accounts: accounts, mistakes: mistakes)
        let defaultName = MappingDeclaration.defaultName
        let defaults =
            declarations[defaultName].map { resolver.resolve($0, before: nil, scripts) } ?? MappingEntry(defaultName)
        var entries: [String: MappingEntry] = [:]
        for (name, declaration) in declarations where name != defaultName {
            entries[name] = resolver.resolve(declaration, before: defaults, scripts)
        }
        guard resolver.mistakes.isEmpty else { throw ConfigurationMistakes(resolver.mistakes.sorted()) }
        return (MappingTable(entries: entries, defaults: defaults), resolver.warnings.sorted())
    }

    private struct Resolver {
        let catalog: [String: any CommandObject]
        let accounts: any Accounts
        var mistakes: [ConfigurationMistake]
        var warnings: [ConfigurationMistake] = []

        mutating func resolve(
            _ declaration: MappingDeclaration,
            before defaults: MappingEntry?,
            _ scripts: (String, Phase) -> any CommandObject
        ) -> MappingEntry {
            var steps: [Phase: [MappingEntry.Step]] = [:]
            for phase in Phase.allCases {
                steps[phase] = defaults?.steps(of: phase) ?? []
                for name in declaration.phases[phase] ?? [] {
                    guard let object = object(name, phase, scripts) else { continue }
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
                timeout: declaration.timeout ?? defaults?.timeout,
                location: declaration.command.location
            )
        }

        private mutating func object(
            _ name: Located<String>,
            _ phase: Phase,
            _ scripts: (String, Phase) -> any CommandObject
        ) -> (any CommandObject)? {
            let prefix = "script:"
            if name.value.hasPrefix(prefix), name.value.count > prefix.count {
                return scripts(String(name.value.dropFirst(prefix.count)), phase)
            }
            guard let object = catalog[name.value] else {
                let question = NearestNames.question(name.value, among: catalog.keys)
                mistakes.append(
                    ConfigurationMistake("unknown command object '\(name.value)'\(question)", at: name.location)
                )
                return nil
            }
            guard object.phase == phase else {
                mistakes.append(
                    ConfigurationMistake(
                        "'\(name.value)' belongs under '\(object.phase.rawValue)', not under '\(phase.rawValue)'",
                        at: name.location
                    )
                )
                return nil
            }
            return object
        }

        private mutating func rule(_ allow: MappingDeclaration.Allow) -> AllowRule {
            let (rule, unknown) = AllowRule.resolve(allow, accounts)
            warnings += unknown
            return rule
        }
    }
}

/// The users and groups of the device.
public protocol Accounts: Sendable {
    func uid(ofUser name: String) -> UInt32?
    func gid(ofGroup name: String) -> UInt32?
}

extension [ConfigurationMistake] {
    fileprivate func sorted() -> [ConfigurationMistake] {
        sorted {
            ($0.location.file, $0.location.line, $0.location.column) < (
                $1.location.file, $1.location.line, $1.location.column
            )
        }
    }
}
