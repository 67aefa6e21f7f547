public import JSON

/// What one file declares for one command, before the files are merged.
public struct MappingDeclaration: Sendable {
    /// A rule: `{users: […], groups: […]}`.
    public struct Allow: Sendable {
        /// The names of users; those with a colon belong to gateways.
        public var users: [Located<String>] = []
        /// The names of groups; those with a colon belong to gateways.
        public var groups: [Located<String>] = []
        /// Of `answeredBy`: whether those of `handlerCommands` may not answer.
        public var only = false
        /// Where the rule is written.
        public var location: SourceLocation

        /// The gateways whose users or groups it names.
        var gateways: Set<ByteName> { GatewayName.gateways(of: (users + groups).map(\.value)) }

        /// A rule that names these users and groups.
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

        /// A rule for calls with that first parameter.
        public init(_ text: Located<String>, _ allow: Allow) {
            self.text = text
            self.allow = allow
        }
    }

    /// The command's name, and where it is written.
    public var command: Located<String>
    /// One sentence that says what the command does.
    public var help: String?
    /// What its calls return, in words.
    public var answers: String?
    /// What its calls return, declared like a parameter; optional if it may be null.
    public var result: Parameter?
    /// What it does at worst; nil: nobody says, which counts as the worst.
    public var effect: CommandEffect?
    /// Its declared parameters; nil: they are not checked.
    public var parameters: ParameterList?
    /// The command objects' names of each phase.
    public var phases: [Phase: [Located<String>]] = [:]
    /// How long a call may wait; nil: as in the entry `default`.
    public var timeout: Duration?
    /// Who may call it; nil: as in the entry `default`, or everybody who may connect.
    public var allow: Allow?
    /// Narrows `allow` for calls whose first parameter is that text.
    public var verbs: [Verb] = []
    /// The value's declaration, if the command is a value instead of a stack.
    public var value: ValueDeclaration?
    /// Who may set the value, or run the schedule now; `allow` applies, too.
    public var set: Allow?
    /// The event's declaration, if the command is an event.
    public var event: EventDeclaration?
    /// Who may post the event.
    public var post: Allow?
    /// The schedule's declaration, if the command is a schedule.
    package var schedule: ScheduleDeclaration?
    /// What the schedule calls.
    package var call: PlannedCall?
    /// Who may register the handlers that it uses.
    public var answeredBy: Allow?
    /// How the command appears in Home Assistant: members of its discovery message, or false if it should not appear.
    public var homeAssistant: JSONValue?
    /// Whether it replaces what earlier files declare.
    public var replaces = false
    /// Where that stands which it replaces.
    var replaced: SourceLocation?
    /// Where it says what the command is, if that is not its first place.
    private var origin: SourceLocation?
    /// What to say of a later file that makes something else of it.
    private var clash: ConfigurationMistake?
    /// Where each file speaks of it, once the files are merged.
    var places: [SourceLocation] = []
    /// Where the files say what the command does, by a phase or a value, once they are merged.
    var origins: [Origin] = []
    /// The gateways of its rules.
    var ruledGateways: Set<ByteName> {
        [allow, set, post].compactMap { $0?.gateways }.reduce(into: []) { $0.formUnion($1) }
    }
    /// Whether it removes the entry.
    public var removes = false

    /// Where a file says what the command does, and the gateways that it names in its own rules for it.
    struct Origin {
        var location: SourceLocation
        var gateways: Set<ByteName>
    }

    /// An empty declaration of the command.
    public init(_ command: Located<String>) { self.command = command }

    /// The entry whose command objects run before every command's own.
    public static let defaultName = "default"
    /// Names that no command can have: `default` is the entry that applies to all, `error` is the command of error
    /// replies.
    public static let reservedNames = [defaultName, CommandError.replyCommand]

    /// Merges what a later file declares: phases are appended, every other key is replaced. What adds command objects and
    /// has no effect leaves none. Each of the `verbs` is
    /// replaced separately, so that a rule for one does not drop the rules of the others.
    mutating func add(_ later: MappingDeclaration) {
        if !later.isEmpty {
            clash = clash ?? clash(with: later)
            if isEmpty || later.kind != .stack { origin = later.command.location }
        }
        for (phase, names) in later.phases { phases[phase, default: []] += names }
        help = later.help ?? help
        answers = later.answers ?? answers
        result = later.result ?? result
        // What the command did says nothing of what more it does now.
        effect = later.effect ?? (later.phases.values.allSatisfy(\.isEmpty) ? effect : nil)
        parameters = later.parameters ?? parameters
        timeout = later.timeout ?? timeout
        allow = later.allow ?? allow
        let replaced = Set(later.verbs.map { ByteName($0.text.value) })
        verbs = verbs.filter { !replaced.contains(ByteName($0.text.value)) } + later.verbs
        if var answeredBy = later.answeredBy {
            // Who adds a user to a rule that excludes others does not want to let the others in.
            answeredBy.only = answeredBy.only || self.answeredBy?.only ?? false
            self.answeredBy = answeredBy
        }
        value = later.value ?? value
        set = later.set ?? set
        event = later.event ?? event
        post = later.post ?? post
        schedule = later.schedule ?? schedule
        call = later.call ?? call
        homeAssistant = later.homeAssistant ?? homeAssistant
    }

    /// That a later file makes another kind of it, or, beside it in its folder, another value, event or schedule: an owner's
    /// file changes what is shipped, and of two that the owner has one is a slip.
    private func clash(with later: MappingDeclaration) -> ConfigurationMistake? {
        guard !isEmpty else { return nil }
        let place = origin ?? command.location
        var noun = kind == .stack ? "a command" : kind.noun
        if kind == later.kind {
            guard place.folder == later.command.location.folder, !isSame(as: later) else { return nil }
            noun = "another \(kind.rawValue)"
        }
        let text = """
            '\(command.value)' is \(noun) already, in \(place); choose another name, or say 'replace: true' here to \
            replace that
            """
        return ConfigurationMistake(text, at: later.command.location)
    }

    /// Whether both say the same of what the command is.
    private func isSame(as later: MappingDeclaration) -> Bool {
        guard value?.normalized == later.value?.normalized, schedule == later.schedule,
            event?.normalized == later.event?.normalized
        else { return false }
        guard let call, let other = later.call else { return true }
        return call.command.value == other.command.value
            && call.parameters.map(\.normalized) == other.parameters.map(\.normalized)
    }

    /// Whether it has rules but does not say what the command is.
    var isEmpty: Bool { kinds.isEmpty }

    /// What it says that the command is: one of them, or it is a mistake.
    private var kinds: [EntryKind] {
        let all: [(EntryKind, Bool)] = [
            (.stack, !phases.isEmpty), (.value, value != nil), (.event, event != nil), (.schedule, schedule != nil),
        ]
        return all.filter(\.1).map(\.0)
    }

    /// What the command is.
    package var kind: EntryKind { kinds.last ?? .stack }

    /// Two kinds in one, and keys that its kind cannot have.
    var mistakes: [ConfigurationMistake] {
        let (name, kind) = (command.value, kind)
        var texts: [String] = []
        if let clash { return [clash] }
        if kinds.count > 1 {
            let nouns = kinds.map(\.noun).joined(separator: " and as ")
            texts.append(
                kinds.contains(.stack)
                    ? "'\(name)' is \(kind.noun) and cannot have command objects"
                    : "'\(name)' is declared as \(nouns); it can be one of them"
            )
        }
        if kind != .stack {
            let reason = kind == .value ? "its type is its parameter" : "it takes no parameters of your own"
            if parameters != nil { texts.append("'\(name)' is \(kind.noun): \(reason)") }
            if result != nil { texts.append("'\(name)' is \(kind.noun): its \(kind.resultNoun) is its result") }
            let rule = kind == .event ? "'post' says who may post it" : "'set' says who may \(kind.changing) it"
            if !verbs.isEmpty { texts.append("'\(name)' is \(kind.noun): \(rule)") }
        }
        for (key, isThere, kinds) in kindKeys where isThere && !kinds.contains(kind) {
            let noun = kinds.map { "'\($0.rawValue)'" }.joined(separator: " or ")
            texts.append("'\(name)' has '\(key)', which is for an entry with \(noun)")
        }
        if set != nil, value?.isInput ?? false {
            texts.append("'\(name)' has 'set', but nobody can set it: it is read from its hardware")
        }
        if post != nil, event?.binding != nil {
            texts.append("'\(name)' has 'post', but programs do not post it: it comes from its input device")
        }
        if kind == .event || kind == .schedule || value?.binding != nil, DaemonEvents.names.contains(name) {
            texts.append("'\(name)' is an event of the device itself; choose another name for yours")
        }
        return texts.map { ConfigurationMistake($0, at: command.location) }
    }

    private var kindKeys: [(key: String, isThere: Bool, of: [EntryKind])] {
        [
            ("set", set != nil, [.value, .schedule]), ("post", post != nil, [.event]),
            ("call", call != nil, [.schedule]),
        ]
    }

    /// A verb that no call can have with the declared parameters: a typo that would leave open what the rule should
    /// protect.
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
    /// A number that no call can match: only whole numbers are compared, in whatever form they are written.
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

extension SourceLocation {
    fileprivate var folder: Substring { file[..<(file.lastIndex(of: "/") ?? file.startIndex)] }
}

extension Parameter {
    /// Whether a verb, as YAML writes it, fits the parameter.
    fileprivate func fits(verb: String) -> Bool {
        fits(.string(verb)) || ((try? JSONParser.parse(verb)).map { fits($0) } ?? false)
    }
}

// With one form of each number, to compare what two files declare: JSON has one kind of them, and 0.0 is 0.

extension ValueDeclaration {
    fileprivate var normalized: ValueDeclaration {
        var one = self
        (one.parameter, one.initial) = (parameter.normalized, initial.normalized)
        return one
    }
}

extension EventDeclaration {
    fileprivate var normalized: EventDeclaration {
        var one = self
        one.parameter = parameter.normalized
        return one
    }
}

extension Parameter {
    fileprivate var normalized: Parameter {
        var one = self
        one.defaultValue = defaultValue?.normalized
        one.oneOf = oneOf?.map(\.normalized)
        one.items = items?.normalized
        for index in members.indices { one.members[index].declared = members[index].declared?.normalized }
        return one
    }
}

extension JSONValue {
    fileprivate var normalized: JSONValue {
        switch self {
        case .number(let number): .shortest(number)
        case .array(let items): .array(items.map(\.normalized))
        case .object(let members): .object(JSONObject(members.map { ($0.name, $0.value.normalized) }))
        default: self
        }
    }
}
