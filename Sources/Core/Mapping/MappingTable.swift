public import JSON

/// All commands of the daemon, resolved. Immutable: a reload makes a new table, and running calls keep theirs.
public final class MappingTable: Sendable {
    private let table: NameTable<MappingEntry>
    private let index: NameIndex
    /// The entry `default`, for commands that no file names (handlers as commands).
    let defaults: MappingEntry
    private let handlerUses: HandlerUses

    /// An empty table.
    public convenience init() { self.init(entries: [], defaults: MappingEntry(MappingDeclaration.defaultName)) }

    init(entries: [MappingEntry], defaults: MappingEntry, handlerUses: HandlerUses = HandlerUses()) {
        self.handlerUses = handlerUses
        table = NameTable(entries.map { (name: $0.command, element: $0) })
        index = NameIndex(entries.map(\.command))
        self.defaults = defaults
    }

    /// All entries, in no particular order.
    public var entries: [MappingEntry] { table.elements }

    /// How many commands there are.
    public var count: Int { table.elements.count }

    /// The entry of a command; nil if there is none.
    public subscript(command: String) -> MappingEntry? { table[command] }

    /// An entry, valid while this table lives.
    func borrow(_ command: UnsafeBufferPointer<UInt8>) -> Borrowed<MappingEntry>? {
        table.index(of: command).map { Borrowed(table.elements[$0]) }
    }

    /// At most three commands with similar names, nearest first.
    func nearest(_ command: String) -> [String] { index.nearest(command) }

    /// Whether an entry uses a handler. Then the entry's rules apply to it, and it is not a command of its own.
    func usesHandler(_ name: String) -> Bool { handlerUses.contains(name) }

    /// Whether a handler of that name may be a command of its own, if its client may make one.
    func leavesFree(_ name: String) -> Bool {
        self[name] == nil && !usesHandler(name) && !MappingDeclaration.reservedNames.contains(name)
    }

    /// What to say of a handler to which no call may come: no entry uses it, and one has its name, or uses one whose name
    /// differs only in capitals. Nil if there is nothing to say.
    public func doubt(ofHandler name: String) -> String? {
        guard !usesHandler(name) else { return nil }
        guard let entry = self[name] else {
            let near = handlerUses.inOtherCapitals(name).map { [$0] } ?? []
            return near.isEmpty ? nil : "no mapping uses the handler '\(name)'\(NearestNames.question(near))"
        }
        let what = entry.kind == .stack ? "a command" : entry.kind.noun
        let remedy = entry.kind == .stack ? ", or map the command to script:\(name)" : ""
        return
            "'\(name)' is \(what) of the mappings already, so no call comes to this handler: give it another name\(remedy)"
    }

    /// What an owner may not know about the handlers that the files use. These are neither mistakes nor warnings, and
    /// are shown only when the files are checked, because earlier versions had no such rule.
    public var handlerNotes: [ConfigurationMistake] { handlerUses.notes.sorted() }

    /// Why a caller may not answer for a handler, by the rules of the entries that use it; nil if it may.
    func refusal(toAnswerFor handler: String, _ caller: Caller, mayHandleCommands: Bool) -> CommandError? {
        handlerUses.refusal(toAnswerFor: handler, caller, mayHandleCommands: mayHandleCommands)
    }

    /// The entry of a handler that is a command of its own: `default`'s command objects, then the handler.
    func entry(of handler: String, _ object: any WaitingBCO) -> MappingEntry {
        MappingEntry(
            handler,
            help: "A handler that a client registered.",
            validation: defaults.steps(of: .validation),
            business: defaults.steps(of: .business) + [
                MappingEntry.Step("script:\(handler)", StepObject.make(object))
            ],
            view: defaults.steps(of: .view),
            errorSteps: defaults.errorSteps,
            rule: defaults.rule,
            timeout: defaults.timeout
        )
    }
}

/// One command, resolved: who may run it, with which parameters, and its stack.
public final class MappingEntry: CommandDescription, @unchecked Sendable {
    // Sendable because it has only constants.

    /// A command object with the name it was mapped by.
    public struct Step: Sendable {
        /// The name as written in the mapping.
        public let name: String
        let object: StepObject

        init(_ name: String, _ object: StepObject) {
            self.name = name
            self.object = object
        }
    }

    /// One sentence that says what the command does.
    public let help: String?
    /// What its calls return, in words.
    public let answers: String?
    /// What its calls return, declared like a parameter; optional if it may be null. Nobody checks it here.
    public let result: Parameter?
    /// What it does at worst.
    public let effect: CommandEffect
    /// Who may call it; nil: everybody who may connect.
    public let rule: AllowRule?
    /// Rules for single first parameters.
    public let verbs: VerbRules
    /// Who may register the handlers that it uses, in addition to those who may register any handler.
    public let answeredBy: AllowRule?
    /// The value's declaration, if the command is a value instead of a stack.
    public let value: ValueDeclaration?
    /// Who may set the value, or run the schedule now; `rule` applies, too.
    public let setRule: AllowRule?
    /// The event's declaration, if the command is an event.
    public let event: EventDeclaration?
    /// Who may post the event; nil: nobody.
    public let postRule: AllowRule?
    /// The schedule's declaration, if the command is a schedule.
    package let schedule: ScheduleDeclaration?
    /// The gateways whose users or groups `allow`, `set` or `post` names: it is on their lists by that, if each file names them
    /// that says what it does. A rule for another file's entry says who may call it, and puts it on no list.
    public let gateways: Set<ByteName>
    /// The gateways that its own rules name, in whatever file.
    package let ruledGateways: Set<ByteName>
    private let origins: [MappingDeclaration.Origin]
    /// Whether it is known that no shipped file says what the command is.
    package let isOwn: Bool
    /// The users of services that publish the value to the gateways that `allow` of the same file names.
    let publishers: Set<UInt32>
    /// Whether the arguments decide who may call it.
    let hasRulesOfArguments: Bool
    /// How long a call may wait; nil: forever.
    public let timeout: Duration?
    /// How the command appears in Home Assistant, for the MQTT gateway.
    public let homeAssistant: JSONValue?
    /// Validation, business and view, in the order they run; `default`'s first in each phase.
    let steps: [Step]
    let errorSteps: [Step]
    /// Whether a call may have to wait before it is done or fails.
    let waits: Bool
    /// Whether a failed call may have to wait before its caller gets the error.
    let errorsWait: Bool
    /// Whether either of them may happen.
    let mayWait: Bool
    /// Whether one of its command objects touches a device.
    let touchesDevice: Bool
    /// Where each file speaks of the command, in the order in which they are read.
    public let places: [SourceLocation]
    /// Where the command is mapped first.
    public var location: SourceLocation? { places.first }

    /// What the command is.
    public var kind: EntryKind {
        if value != nil { return .value }
        if event != nil { return .event }
        return schedule == nil ? .stack : .schedule
    }

    init(
        _ command: String,
        help: String? = nil,
        answers: String? = nil,
        result: Parameter? = nil,
        effect: CommandEffect? = nil,
        parameters: ParameterList? = nil,
        validation: [Step] = [],
        business: [Step] = [],
        view: [Step] = [],
        errorSteps: [Step] = [],
        rule: AllowRule? = nil,
        verbs: VerbRules = VerbRules(),
        answeredBy: AllowRule? = nil,
        value: ValueDeclaration? = nil,
        setRule: AllowRule? = nil,
        event: EventDeclaration? = nil,
        postRule: AllowRule? = nil,
        schedule: ScheduleDeclaration? = nil,
        timeout: Duration? = nil,
        homeAssistant: JSONValue? = nil,
        places: [SourceLocation] = [],
        origins: [MappingDeclaration.Origin] = [],
        isOwn: Bool = false,
        gateways: Set<ByteName> = [],
        ruledGateways: Set<ByteName> = [],
        publishers: Set<UInt32> = []
    ) {
        self.homeAssistant = homeAssistant
        self.verbs = verbs
        self.answeredBy = answeredBy
        self.value = value
        self.setRule = setRule
        self.event = event
        self.postRule = postRule
        self.schedule = schedule
        self.gateways = gateways
        self.ruledGateways = ruledGateways
        self.origins = origins
        self.isOwn = isOwn
        self.publishers = publishers
        hasRulesOfArguments = setRule != nil || !verbs.isEmpty
        self.help = help
        self.answers = answers
        self.result = value?.result ?? event?.result ?? schedule?.result ?? result
        self.effect = effect ?? .destroys
        self.steps = validation + business + view
        self.errorSteps = errorSteps
        self.waits = steps.contains(where: \.object.waits)
        errorsWait = errorSteps.contains(where: \.object.waits)
        mayWait = waits || errorsWait
        touchesDevice = steps.contains(where: \.object.touchesDevice)
        self.rule = rule
        self.timeout = timeout
        self.places = places
        super.init(command, parameters)
    }

    /// All that say who may call, set or post it.
    package var rules: [AllowRule] { [rule, setRule, postRule].compactMap { $0 } + verbs.all.map(\.rule) }

    /// The place at which a rule of an owner's entry puts it on the list of a gateway; nil: the list alone does.
    func place(toList gateway: ByteName) -> SourceLocation? {
        guard isOwn else { return nil }
        return origins.first { !$0.gateways.contains(gateway) }?.location ?? rule?.location
    }

    /// What `can` calls that which `set` or `post` is the rule of: running a schedule, posting an event, or setting a value.
    package var settingVerb: String {
        switch kind {
        case .schedule: PlannedCall.run
        case .event: VerbRules.posting
        case .stack, .value: VerbRules.setting
        }
    }

    /// This entry, `default`, under the name of a command that no mapping has.
    func forUnknown(_ command: String) -> MappingEntry {
        MappingEntry(command, validation: steps, errorSteps: errorSteps, timeout: timeout)
    }

    /// The command objects of a phase, in the order they run.
    public func steps(of phase: Phase) -> [Step] {
        phase == .error ? errorSteps : steps.filter { $0.object.phase == phase }
    }
}
