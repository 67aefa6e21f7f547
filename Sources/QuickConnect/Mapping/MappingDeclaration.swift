public import JSON

/// What one file says of one command, before the files are merged.
public struct MappingDeclaration: Sendable {
    /// Who may: `{users: […], groups: […]}`.
    public struct Allow: Sendable {
        /// The names of users; those with a colon belong to gateways.
        public var users: [Located<String>] = []
        /// The names of groups; those with a colon belong to gateways.
        public var groups: [Located<String>] = []
        /// Where the rule is written.
        public var location: SourceLocation

        /// A rule that names those users and groups.
        public init(users: [Located<String>] = [], groups: [Located<String>] = [], location: SourceLocation) {
            self.users = users
            self.groups = groups
            self.location = location
        }
    }

    /// Who may call a command with this text as its first parameter.
    public struct Verb: Sendable {
        /// The first parameter, as the file writes it.
        public var text: Located<String>
        /// Who may make such a call.
        public var allow: Allow

        /// A rule for calls that begin with a text.
        public init(_ text: Located<String>, _ allow: Allow) {
            self.text = text
            self.allow = allow
        }
    }

    /// The command's name, and where it is written.
    public var command: Located<String>
    /// One sentence that says what the command does.
    public var help: String?
    /// What its calls answer, in words.
    public var answers: String?
    /// Its declared parameters; nil: they are not checked.
    public var parameters: ParameterList?
    /// The command objects' names of each phase.
    public var phases: [Phase: [Located<String>]] = [:]
    /// How long a call may wait; nil: as the entry `default` says.
    public var timeout: Duration?
    /// Who may call it; nil: as the entry `default` says, else everybody who may connect.
    public var allow: Allow?
    /// Narrows `allow` for calls whose first parameter is that text.
    public var verbs: [Verb] = []
    /// What it is, where it is a value in place of a stack.
    public var value: ValueDeclaration?
    /// Who may set the value, besides what `allow` says.
    public var set: Allow?
    /// Who may register the handlers that it uses.
    public var answeredBy: Allow?
    /// How the command looks in Home Assistant: members of its discovery, or false where it is not to be there.
    public var homeAssistant: JSONValue?
    /// Whether it starts the entry anew.
    public var replaces = false
    /// Whether it takes the entry out.
    public var removes = false

    /// A declaration that says nothing of the command yet.
    public init(_ command: Located<String>) { self.command = command }

    /// The entry whose command objects run before every command's own.
    public static let defaultName = "default"
    /// Names that no command can have: `default` is the entry for all, `error` the command of error replies.
    public static let reservedNames = [defaultName, CommandError.replyCommand]

    /// Adds what a later file says: phases append, every other key is replaced; of `verbs` each verb by itself, so that a
    /// rule for one leaves no other verb open.
    mutating func add(_ later: MappingDeclaration) {
        for (phase, names) in later.phases { phases[phase, default: []] += names }
        help = later.help ?? help
        answers = later.answers ?? answers
        parameters = later.parameters ?? parameters
        timeout = later.timeout ?? timeout
        allow = later.allow ?? allow
        let replaced = Set(later.verbs.map { ByteName($0.text.value) })
        verbs = verbs.filter { !replaced.contains(ByteName($0.text.value)) } + later.verbs
        answeredBy = later.answeredBy ?? answeredBy
        value = later.value ?? value
        set = later.set ?? set
        homeAssistant = later.homeAssistant ?? homeAssistant
    }

    /// Whether it says who may do something that no file gives.
    var isEmpty: Bool { phases.isEmpty && value == nil }

    /// What a value has no use for, or what only a value has.
    var mistakes: [ConfigurationMistake] {
        func mistake(_ text: String) -> ConfigurationMistake { ConfigurationMistake(text, at: command.location) }
        guard value != nil else {
            return set == nil ? [] : [mistake("'\(command.value)' has 'set', which is for an entry with 'value'")]
        }
        var mistakes: [ConfigurationMistake] = []
        if !phases.isEmpty {
            mistakes.append(mistake("'\(command.value)' is a value, and has no command objects of its own"))
        }
        if parameters != nil {
            mistakes.append(mistake("'\(command.value)' is a value, whose type says what its parameter is"))
        }
        if !verbs.isEmpty { mistakes.append(mistake("'\(command.value)' is a value: 'set' says who may set it")) }
        return mistakes
    }

    /// A verb that no call can have, as the parameters are declared: a slip would leave open what was meant.
    func mistake(of verb: Located<String>) -> ConfigurationMistake? {
        if let mistake = mistake(ofNumber: verb) { return mistake }
        guard let parameters = parameters?.parameters, !(parameters.first?.fits(verb: verb.value) ?? false) else {
            return nil
        }
        let known = parameters.first?.oneOf?.compactMap(\.stringValue) ?? []
        let question = NearestNames.question(verb.value, among: known)
        return ConfigurationMistake(
            "'\(verb.value)' can be no first parameter of '\(command.value)'\(question)",
            at: verb.location
        )
    }
}

extension MappingDeclaration {
    /// A number that calls are not compared with: only whole ones are, whichever way they are written.
    private func mistake(ofNumber verb: Located<String>) -> ConfigurationMistake? {
        guard parameters?.parameters.first?.kind != .string, let number = try? JSONParser.parse(verb.value),
            number.numberValue != nil
        else { return nil }
        let whole = number.integerValue.map { "\($0)" }
        guard whole != verb.value else { return nil }
        let remedy = whole.map { "write \($0)" } ?? "a verb is a text, a whole number or a truth value"
        return ConfigurationMistake(
            "the verb '\(verb.value)' of '\(command.value)' would hold for no number; \(remedy)",
            at: verb.location
        )
    }
}

extension Parameter {
    /// Whether a verb, as YAML writes it, may stand for the parameter.
    fileprivate func fits(verb: String) -> Bool {
        fits(.string(verb)) || ((try? JSONParser.parse(verb)).map { fits($0) } ?? false)
    }
}
