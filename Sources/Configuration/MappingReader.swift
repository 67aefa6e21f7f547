import QuickConnect

/// Reads one file of mappings: a mapping of commands to entries.
struct MappingReader {
    private var file: YAMLFile

    static let keys: [FileKey<MappingDeclaration>] =
        Phase.allCases.map { phase in FileKey(phase.rawValue, \.phases[phase]) { $0.words($1, $2) } } + [
            FileKey("help", \.help) { $0.string($1, $2) },
            FileKey("answers", \.answers) { $0.string($1, $2) },
            FileKey("result", \.result) { $0.declaration($1, $2, Parameter.itemKeys) },
            FileKey("effect", \.effect) { $0.choice($1, $2) },
            FileKey("parameters", \.parameters) { file, node, _ in file.parameters(node) },
            FileKey("timeout", \.timeout) { $0.duration($1, $2) },
            FileKey("allow", \.allow) { $0.allow($1, $2) },
            FileKey("verbs", \.verbs) { file, node, _ in file.verbs(node) },
            FileKey("value", \.value) { file, node, _ in file.value(node) },
            FileKey("set", \.set) { $0.allow($1, $2) },
            FileKey("event", \.event) { file, node, _ in file.event(node) },
            FileKey("post", \.post) { $0.allow($1, $2) },
            FileKey("schedule", \.schedule) { file, node, _ in file.schedule(node) },
            FileKey("call", \.call) { file, node, _ in file.plannedCall(node) },
            FileKey("answeredBy", \.answeredBy) { $0.answeredBy($1, $2) },
            FileKey("homeAssistant", \.homeAssistant) { file, node, _ in file.homeAssistant(node) },
            FileKey("replace", \.replaces) { $0.bool($1, $2) },
            FileKey("remove", \.removes) { $0.bool($1, $2) },
        ]

    /// Those of the entry `default`.
    private static let defaultKeys: [FileKey<MappingDeclaration>] = {
        let names = Phase.allCases.map(\.rawValue) + ["timeout", "allow", "answeredBy", "replace", "remove"]
        return keys.filter { names.contains($0.name) }
    }()

    /// Whether nothing of it could be read.
    private(set) var isUnreadable = false

    init(path: String, text: String? = nil) { file = YAMLFile(path: path, text: text) }

    var mistakes: [ConfigurationMistake] { file.mistakes }
    var warnings: [ConfigurationMistake] { file.warnings }
    var isGone: Bool { file.isGone }

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
        let keys = isDefault ? Self.defaultKeys : Self.keys
        let names = file.read(node, of: "'\(command.value)'", keys, into: &declaration, section: isDefault ? nil : "")
        if declaration.removes, names.count > 1 {
            file.mistake("'remove' deletes the whole entry, so it cannot be combined with other keys", at: node)
        }
        return declaration
    }
}

extension YAMLFile {
    /// `{verb: {users: [name, …], groups: [name, …]}, …}`.
    fileprivate mutating func verbs(_ node: YAMLNode) -> [MappingDeclaration.Verb] {
        members(node, of: "'verbs'").map { key, verb, value in
            MappingDeclaration.Verb(Located(verb, at: location(key)), allow(value, "the verb '\(verb)'"))
        }
    }

    /// `{users: [name, …], groups: [name, …]}`.
    mutating func allow(_ node: YAMLNode, _ what: String = "'allow'") -> MappingDeclaration.Allow {
        rule(node, what, known: ["users", "groups"])
    }

    /// The same, and `only: true`: those of handlerCommands may not answer.
    fileprivate mutating func answeredBy(_ node: YAMLNode, _ what: String) -> MappingDeclaration.Allow {
        rule(node, what, known: ["users", "groups", "only"])
    }

    private mutating func rule(_ node: YAMLNode, _ what: String, known: [String]) -> MappingDeclaration.Allow {
        var allow = MappingDeclaration.Allow(location: location(node))
        if let names = node.sequence.map({ $0.compactMap(\.text) }) ?? (node.isNull ? nil : node.text.map { [$0] }) {
            let list = names.isEmpty ? "ann" : names.prefix(3).joined(separator: ", ")
            let everybody = what == "'allow'" ? ", and everybody is allowed where no file says 'allow'" : ""
            let none = names.isEmpty ? "; nobody but root is {users: []}\(everybody)" : ""
            mistake("\(what) must name users or groups, such as {users: [\(list)]}\(none)", got: node)
            return allow
        }
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
