internal import JSON

/// Merges the declarations of the files, in order, and resolves them into a table.
public struct MappingTableBuilder {
    private var declarations: [ByteName: MappingDeclaration] = [:]
    private var mistakes: [ConfigurationMistake] = []
    private var warnings: [ConfigurationMistake] = []
    /// Mistakes within the files themselves.
    private var mistakesOfFiles: [ConfigurationMistake] = []
    /// Whether a file has parts that could not be read. Then only mistakes of files are reported, because others may be
    /// consequences.
    public var isIncomplete = false
    /// The gateways that the settings have, for who names their users without them.
    public var gateways: [String] = []
    /// The folder whose entries are not the owner's; nil: nobody knows whose they are.
    package var shipped: String?

    /// A builder without declarations.
    public init() {}

    /// Adds a warning: something odd in the files that does no harm.
    public mutating func warn(_ warning: ConfigurationMistake) { warnings.append(warning) }

    /// Adds a mistake of a file. The rest of that file may be incomplete, so no other mistake in it is reported.
    public mutating func note(_ mistake: ConfigurationMistake) { mistakesOfFiles.append(mistake) }

    /// Adds the next file's declaration of a command.
    public mutating func add(_ declaration: MappingDeclaration) {
        let name = declaration.command.value
        let key = ByteName(name)
        if name == CommandError.replyCommand {
            mistake("'error' is the command of error replies and cannot be mapped", at: declaration.command)
        } else if declaration.removes {
            guard declarations.removeValue(forKey: key) == nil else { return }
            let question = NearestNames.question(name, among: declarations.keys.map(\.text))
            mistake("no file before maps '\(name)', so it cannot be removed\(question)", at: declaration.command)
        } else if declaration.replaces {
            replace(key, declaration)
        } else {
            declarations[key, default: MappingDeclaration(declaration.command)].add(declaration)
        }
        declarations[key]?.places.append(declaration.command.location)
        if !declaration.isEmpty {
            declarations[key]?.origins.append(
                .init(location: declaration.command.location, gateways: declaration.ruledGateways)
            )
        }
    }

    /// Where there is nothing to replace, nothing is lost; but what was meant may still be there under its own name.
    private mutating func replace(_ key: ByteName, _ declaration: MappingDeclaration) {
        let old = declarations.updateValue(declaration, forKey: key)
        declarations[key]?.replaced = old?.command.location
        guard old == nil else { return }
        let others = declarations.keys.map(\.text).filter { $0 != key.text }
        let question = warnings.count < 20 ? NearestNames.question(key.text, among: others) : ""
        let says = "no file before maps '\(key.text)', so 'replace: true' replaces nothing\(question)"
        warn(ConfigurationMistake(says, at: declaration.command.location))
    }

    private mutating func mistake(_ text: String, at place: Located<String>) {
        mistakes.append(ConfigurationMistake(text, at: place.location))
    }

    /// All values, whatever mistakes there are.
    package var values: [(name: String, value: ValueDeclaration)] {
        declarations.compactMap { name, one in one.value.map { (name.text, $0) } }
    }

    /// Forgets what the files say of a command, which does not exist here.
    public mutating func drop(_ command: String) { declarations[ByteName(command)] = nil }

    /// Resolves every name.
    /// - Parameters:
    ///   - catalog: the native command objects.
    ///   - scripts: makes the command object of `script:NAME`.
    ///   - declared: makes the command object of a value, an event or a schedule.
    ///   - accounts: the ids of users and groups.
    /// - Returns: the table, and warnings of what is odd but does no harm.
    public func build(
        catalog: [String: any CommandObject],
        scripts: @escaping (_ name: String) -> any CommandObject,
        declared: @escaping (_ name: String, MappingDeclaration) -> any CommandObject,
        accounts: any Accounts
    ) throws(ConfigurationMistakes) -> (table: MappingTable, warnings: [ConfigurationMistake]) {
        var resolver = Resolver(
            catalog: catalog,
            scripts: scripts,
            declared: declared,
            declarations: declarations,
            accounts: accounts,
            mistakes: mistakes,
            gateways: gateways,
            shipped: shipped,
            handlerUses: HandlerUses(services: ServiceUsers.ids(accounts))
        )
        let defaultName = MappingDeclaration.defaultName
        let defaults =
            declarations[ByteName(defaultName)].map { resolver.resolve($0, before: nil) }
            ?? MappingEntry(defaultName)
        var entries: [MappingEntry] = []
        for (name, declaration) in declarations where name.text != defaultName {
            entries.append(resolver.resolve(declaration, before: defaults))
        }
        resolver.mistakes += emptyEntries
        resolver.warnings += accessorWarnings
        let all = told(resolver.mistakes)
        guard all.isEmpty else { throw ConfigurationMistakes(all.sorted()) }
        let table = MappingTable(entries: entries, defaults: defaults, handlerUses: resolver.handlerUses)
        return (table, (warnings + resolver.warnings).sorted())
    }

    /// The mistakes of files, and of the mistakes found while building the table all that cannot be their consequences.
    private func told(_ others: [ConfigurationMistake]) -> [ConfigurationMistake] {
        guard !isIncomplete else { return mistakesOfFiles }
        let files = Set(mistakesOfFiles.map(\.location.file))
        return mistakesOfFiles + others.filter { !files.contains($0.location.file) }
    }

    /// Entries for which no file gives a phase: typos in a name, which would leave open what was meant.
    private var emptyEntries: [ConfigurationMistake] {
        let commands = declarations.filter { $0.key.text != MappingDeclaration.defaultName }.values
        let others = commands.filter { !$0.isEmpty }.map(\.command.value)
        let empty = commands.filter(\.isEmpty).sorted { $0.command.location < $1.command.location }
        return empty.enumerated().map { number, entry in
            let command = entry.command
            if let place = entry.replaced {
                let says =
                    "'replace: true' leaves nothing of '\(command.value)' (\(place)), and no file says what it is instead; "
                    + "'remove: true' removes it, and a command that does nothing has 'view: []'"
                return ConfigurationMistake(says, at: command.location)
            }
            // Each search goes through all names: a file with 10,000 typos must not take a minute.
            let question = number < 20 ? NearestNames.question(command.value, among: others) : ""
            return ConfigurationMistake(
                """
                no file maps '\(command.value)' to a command object\(question); \
                a command that does nothing has 'view: []'
                """,
                at: command.location
            )
        }
    }

    /// Warnings about values for which macros have no accessors.
    private var accessorWarnings: [ConfigurationMistake] {
        let values = declarations.filter { $0.value.value != nil }
        return ValueAccessors.suffixes(of: values.keys.map(\.text)).compactMap { name, suffix in
            guard suffix == nil, let place = values[ByteName(name)]?.command.location else { return nil }
            return ConfigurationMistake(
                "macros get no accessors for the value '\(name)': they would be no identifiers, or are taken",
                at: place
            )
        }
    }

    private struct Resolver {
        let catalog: [String: any CommandObject]
        let scripts: (String) -> any CommandObject
        let declared: (String, MappingDeclaration) -> any CommandObject
        let declarations: [ByteName: MappingDeclaration]
        let accounts: any Accounts
        var mistakes: [ConfigurationMistake]
        let gateways: [String]
        let shipped: String?
        var warnings: [ConfigurationMistake] = []
        var handlerUses: HandlerUses

        mutating func resolve(
            _ declaration: MappingDeclaration,
            before defaults: MappingEntry?
        ) -> MappingEntry {
            mistakes += declaration.mistakes
            let answeredBy = declaration.answeredBy.map { rule($0) }
            let steps = steps(of: declaration, answeredBy, before: defaults)
            let allow = declaration.allow.map { rule($0) }
            let inherited = allow == nil ? inheritedRule(declaration, defaults) : nil
            var named = gateways(declaration, declaration.ruledGateways)
            if let inherited, declaration.origins.map(\.location.file) == [inherited.location.file] {
                named.formUnion(inherited.gateways)
            }
            return MappingEntry(
                declaration.command.value,
                help: declaration.help,
                answers: declaration.answers,
                result: declaration.result,
                effect: effect(of: declaration),
                parameters: declaration.kindParameters ?? declaration.parameters,
                validation: steps[.validation] ?? [],
                business: steps[.business] ?? [],
                view: steps[.view] ?? [],
                errorSteps: steps[.error] ?? [],
                rule: allow ?? inherited,
                verbs: verbs(declaration),
                answeredBy: answeredBy,
                value: declaration.value,
                setRule: setRule(declaration),
                event: declaration.event,
                postRule: declaration.post.map { rule($0) },
                schedule: declaration.plan,
                timeout: declaration.timeout ?? defaults?.timeout,
                homeAssistant: declaration.homeAssistant,
                places: declaration.places,
                origins: declaration.origins,
                isOwn: isOwn(declaration),
                gateways: named,
                ruledGateways: declaration.ruledGateways,
                publishers: publishers(of: declaration, allow)
            )
        }

        /// Those of `default` come first, that of a declared kind last.
        private mutating func steps(
            of declaration: MappingDeclaration,
            _ answeredBy: AllowRule?,
            before defaults: MappingEntry?
        ) -> [Phase: [MappingEntry.Step]] {
            let command = declaration.command.value
            var steps: [Phase: [MappingEntry.Step]] = [:]
            for phase in Phase.allCases {
                steps[phase] = defaults?.steps(of: phase) ?? []
                let names = declaration.phases[phase] ?? []
                warnOfCopies(among: names, of: command)
                for name in names {
                    guard let object = object(name, phase, declaration.answeredBy) else { continue }
                    if let handler = HandlerUses.handler(name.value) {
                        let only = declaration.answeredBy?.only ?? false
                        handlerUses.add(Located(handler, at: name.location), by: command, answeredBy, only: only)
                    }
                    steps[phase, default: []].append(MappingEntry.Step(name.value, object))
                }
            }
            if declaration.kind != .stack, let step = StepObject.make(declared(command, declaration), in: .business) {
                steps[.business, default: []].append(MappingEntry.Step(declaration.kind.rawValue, step))
            }
            return steps
        }

        /// A copy of a file is read beside it: then what both name runs twice.
        private mutating func warnOfCopies(among names: [Located<String>], of command: String) {
            var first: [ByteName: SourceLocation] = [:]
            for name in names {
                guard let place = first[ByteName(name.value)] else {
                    first[ByteName(name.value)] = name.location
                    continue
                }
                guard place.file != name.location.file else { continue }
                let says =
                    "'\(command)' runs '\(name.value)' twice: \(place) has it, too; remove the file that is a copy"
                warnings.append(ConfigurationMistake(says, at: name.location))
            }
        }

        /// What it does at worst: a schedule what it calls does, and more than an event.
        private func effect(of declaration: MappingDeclaration, depth: Int = 0) -> CommandEffect {
            if let effect = declaration.effect { return effect }
            switch declaration.kind {
            case .stack: return .destroys
            case .value: return declaration.value?.binding.map { $0.isOutput ? .acts : .reads } ?? .changes
            case .event: return .reads
            case .schedule:
                guard let call = declaration.call else { return .acts }
                guard depth < 4, let target = declarations[ByteName(call.command.value)] else { return .destroys }
                return max(.acts, effect(of: target, depth: depth + 1))
            }
        }

        /// A schedule without `set` is run by root and the daemon's user alone, and an output set by them.
        private mutating func setRule(_ declaration: MappingDeclaration) -> AllowRule? {
            let nobody = MappingDeclaration.Allow(location: declaration.command.location)
            let isOwners = declaration.kind == .schedule || declaration.value?.binding?.isOutput ?? false
            return (declaration.set ?? (isOwners ? nobody : nil)).map { rule($0) }
        }

        /// Those of a rule that each file names, too, that says what the entry is: who allows a further user in a later file, or
        /// has a copy of the entry, takes it from nobody, and a rule for an entry of somebody else's puts it on no list.
        private func gateways(_ declaration: MappingDeclaration, _ named: Set<ByteName>) -> Set<ByteName> {
            declaration.origins.isEmpty ? [] : declaration.origins.reduce(named) { $0.intersection($1.gateways) }
        }

        private func isOwn(_ declaration: MappingDeclaration) -> Bool {
            guard let shipped else { return false }
            return !declaration.origins.contains { $0.location.file.hasPrefix("\(shipped)/") }
        }

        /// Who publishes a value for others has a right of its own to it: it could read it in the name of any of them.
        private func publishers(of declaration: MappingDeclaration, _ rule: AllowRule?) -> Set<UInt32> {
            guard declaration.kind != .stack, let rule else { return [] }
            let services = gateways(declaration, rule.gateways).compactMap { ServiceUsers.publishers[$0.text] }
            return Set(services.compactMap(accounts.uid(ofUser:)))
        }

        private mutating func object(
            _ name: Located<String>,
            _ phase: Phase,
            _ answeredBy: MappingDeclaration.Allow?
        ) -> StepObject? {
            let meant = HandlerUses.meant(name.value)
            let handler = meant == nil ? HandlerUses.handler(name.value) : nil
            guard var object = handler.map(scripts) ?? catalog[name.value] else {
                var question = mistakes.count < 20 ? NearestNames.question(name.value, among: catalog.keys) : ""
                if let meant { question = NearestNames.question([meant]) }
                if question.isEmpty, name.value.first?.isLowercase ?? false, !name.value.contains(":") {
                    question = "; a handler of a script is \"script:\(name.value)\""
                }
                mistake("unknown command object '\(name.value)'\(question)", at: name)
                return nil
            }
            if let answeredBy, answeredBy.only, var handler = object as? any AnsweredObject {
                handler.service = answeredBy.users.map(\.value).first(where: ServiceUsers.names.contains)
                object = handler
            }
            if let step = StepObject.make(object, in: phase) { return step }
            let phases = StepObject.phases(of: object).map { "'\($0.rawValue)'" }.joined(separator: " or ")
            mistake("'\(name.value)' belongs under \(phases), not under '\(phase.rawValue)'", at: name)
            return nil
        }

        private mutating func mistake(_ text: String, at place: Located<String>) {
            mistakes.append(ConfigurationMistake(text, at: place.location))
        }

        /// The rule of `default`. It does not apply to `actFor`: its caller is the gateway, which its socket has
        /// already checked.
        private func inheritedRule(_ declaration: MappingDeclaration, _ defaults: MappingEntry?) -> AllowRule? {
            declaration.command.value == SocketRule.actFor ? nil : defaults?.rule
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
            let (rule, unknown) = AllowRule.resolve(allow, accounts, gateways: gateways)
            warnings += unknown
            return rule
        }
    }
}

extension [ConfigurationMistake] {
    func sorted() -> [ConfigurationMistake] {
        sorted { $0.location < $1.location }
    }
}
