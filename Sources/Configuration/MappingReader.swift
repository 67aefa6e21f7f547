import QuickConnect

/// Reads one file of mappings: a mapping of commands to entries.
struct MappingReader {
    private var file: YAMLFile

    static let entryKeys =
        Phase.allCases.map(\.rawValue) + [
            "help", "answers", "parameters", "timeout", "allow", "verbs", "answeredBy", "value", "set",
            "homeAssistant", "replace", "remove",
        ]
    static let defaultKeys = Phase.allCases.map(\.rawValue) + ["timeout", "allow", "answeredBy", "replace", "remove"]

    /// Whether nothing of it could be read.
    private(set) var isUnreadable = false

    init(path: String, text: String? = nil) { file = YAMLFile(path: path, text: text) }

    var mistakes: [ConfigurationMistake] { file.mistakes }

    mutating func read() -> [MappingDeclaration] {
        guard let root = file.root() else {
            isUnreadable = !file.mistakes.isEmpty
            return []
        }
        return file.members(root, of: "a file of mappings").compactMap { key, name, value in
            guard !name.isEmpty else {
                file.mistake("a command must have a name", at: key)
                return nil
            }
            return declaration(Located(name, at: file.location(key)), value)
        }
    }

    private mutating func declaration(_ command: Located<String>, _ node: YAMLNode) -> MappingDeclaration {
        var declaration = MappingDeclaration(command)
        let isDefault = command.value == MappingDeclaration.defaultName
        let known = isDefault ? Self.defaultKeys : Self.entryKeys
        let members = file.members(node, of: "'\(command.value)'", known: known)
        for (_, name, value) in members {
            switch name {
            case "help": declaration.help = file.string(value, "'help'")
            case "answers": declaration.answers = file.string(value, "'answers'")
            case "parameters":
                var reader = ParameterReader(file)
                declaration.parameters = reader.read(value)
                file = reader.file
            case "timeout": declaration.timeout = file.duration(value, "'timeout'")
            case "allow": declaration.allow = file.allow(value)
            case "verbs": declaration.verbs = verbs(value)
            case "value":
                var reader = ValueReader(file)
                declaration.value = reader.read(value)
                file = reader.file
            case "set": declaration.set = file.allow(value, "'set'")
            case "answeredBy": declaration.answeredBy = file.answeredBy(value)
            case "homeAssistant": declaration.homeAssistant = file.homeAssistant(value)
            case "replace": declaration.replaces = file.bool(value, "'replace'") ?? false
            case "remove": declaration.removes = file.bool(value, "'remove'") ?? false
            default:
                guard let phase = Phase(rawValue: name) else { continue }
                declaration.phases[phase] = file.words(value, "'\(name)'")
            }
        }
        if declaration.removes, members.count > 1 {
            file.mistake("'remove' deletes the whole entry, so it cannot be combined with other keys", at: node)
        }
        return declaration
    }

    /// `{verb: {users: [name, …], groups: [name, …]}, …}`.
    private mutating func verbs(_ node: YAMLNode) -> [MappingDeclaration.Verb] {
        file.members(node, of: "'verbs'").map { key, verb, value in
            MappingDeclaration.Verb(Located(verb, at: file.location(key)), file.allow(value, "the verb '\(verb)'"))
        }
    }
}

extension YAMLFile {
    /// `{users: [name, …], groups: [name, …]}`.
    mutating func allow(_ node: YAMLNode, _ what: String = "'allow'") -> MappingDeclaration.Allow {
        rule(node, what, known: ["users", "groups"])
    }

    /// The same, and `only: true`: those of handlerCommands may not answer.
    fileprivate mutating func answeredBy(_ node: YAMLNode) -> MappingDeclaration.Allow {
        rule(node, "'answeredBy'", known: ["users", "groups", "only"])
    }

    private mutating func rule(_ node: YAMLNode, _ what: String, known: [String]) -> MappingDeclaration.Allow {
        var allow = MappingDeclaration.Allow(location: location(node))
        for (_, name, value) in members(node, of: what, known: known) {
            switch name {
            case "users": allow.users = words(value, "'users'")
            case "groups": allow.groups = words(value, "'groups'")
            default: allow.only = bool(value, "'only'") ?? false
            }
        }
        return allow
    }
}
