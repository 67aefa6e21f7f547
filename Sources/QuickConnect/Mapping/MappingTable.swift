public import JSON

/// All commands of the daemon, resolved. Immutable: a reload makes a new one, and calls under way keep theirs.
public final class MappingTable: Sendable {
    private let table: NameTable<MappingEntry>
    private let index: NameIndex
    /// What stands in `default`, for commands that no file names (handlers as commands).
    let defaults: MappingEntry
    private let handlerUses: HandlerUses

    /// A table without a command.
    public convenience init() { self.init(entries: [], defaults: MappingEntry(MappingDeclaration.defaultName)) }

    init(entries: [MappingEntry], defaults: MappingEntry, handlerUses: HandlerUses = HandlerUses()) {
        self.handlerUses = handlerUses
        table = NameTable(entries.map { (name: $0.command, element: $0) })
        index = NameIndex(entries.map(\.command))
        self.defaults = defaults
    }

    /// All entries, in no order.
    public var entries: [MappingEntry] { table.elements }

    /// How many commands there are.
    public var count: Int { table.elements.count }

    /// The entry of a command; nil where there is none.
    public subscript(command: String) -> MappingEntry? { table[command] }

    /// An entry, for as long as this table lives.
    func borrow(_ command: UnsafeBufferPointer<UInt8>) -> Borrowed<MappingEntry>? {
        table.index(of: command).map { Borrowed(table.elements[$0]) }
    }

    /// At most three commands that somebody may have meant, nearest first.
    func nearest(_ command: String) -> [String] { index.nearest(command) }

    /// Whether an entry uses a handler, whose rules then hold for it: it is no command of its own.
    func usesHandler(_ name: String) -> Bool { handlerUses.contains(name) }

    /// Whether an entry has the name of a handler, and none uses the handler: no call comes to it.
    public func hides(handler name: String) -> Bool { self[name] != nil && !usesHandler(name) }

    /// What an owner may not know of the handlers that its files use: no mistake and no warning, but told where the files
    /// are checked, for earlier versions had no such rule.
    public var handlerNotes: [ConfigurationMistake] { handlerUses.notes.sorted() }

    /// Why a caller may not answer for a handler, by the rules of the entries that use it; nil where it may.
    func refusal(toAnswerFor handler: String, _ caller: Caller) -> CommandError? {
        handlerUses.refusal(toAnswerFor: handler, caller)
    }

    /// The entry of a command that a handler is by itself: `default`'s command objects, then the handler.
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

    /// A command object under the name it was mapped by.
    public struct Step: Sendable {
        /// The name, as the mapping has it.
        public let name: String
        let object: StepObject

        init(_ name: String, _ object: StepObject) {
            self.name = name
            self.object = object
        }
    }

    /// One sentence that says what the command does.
    public let help: String?
    /// What its calls answer, in words.
    public let answers: String?
    /// Who may call it; nil: everybody who may connect.
    public let rule: AllowRule?
    /// Who may call it with which first parameter.
    public let verbs: VerbRules
    /// Who may register the handlers that it uses, besides those who may register any.
    public let answeredBy: AllowRule?
    /// What it is, where it is a value in place of a stack, and who may set it.
    public let value: ValueDeclaration?
    /// Who may set the value, besides what `rule` says.
    public let setRule: AllowRule?
    /// Whether what is sent decides who may call it.
    let hasRulesOfArguments: Bool
    /// How long a call may wait; nil: for ever.
    public let timeout: Duration?
    /// How the command looks in Home Assistant, for the gateway of MQTT.
    public let homeAssistant: JSONValue?
    /// Validation, business and view, in the order they run; `default`'s first in each phase.
    let steps: [Step]
    let errorSteps: [Step]
    /// Whether a call may have to wait before it is done or fails.
    let waits: Bool
    /// Whether a call that fails may have to wait before its caller gets the error.
    let errorsWait: Bool
    /// Whether one of both may be.
    let mayWait: Bool
    /// Whether one of its command objects touches a device.
    let touchesDevice: Bool
    /// Where the command is mapped.
    public let location: SourceLocation?

    init(
        _ command: String,
        help: String? = nil,
        answers: String? = nil,
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
        timeout: Duration? = nil,
        homeAssistant: JSONValue? = nil,
        location: SourceLocation? = nil
    ) {
        self.homeAssistant = homeAssistant
        self.verbs = verbs
        self.answeredBy = answeredBy
        self.value = value
        self.setRule = setRule
        hasRulesOfArguments = setRule != nil || !verbs.isEmpty
        self.help = help
        self.answers = answers
        self.steps = validation + business + view
        self.errorSteps = errorSteps
        self.waits = steps.contains(where: \.object.waits)
        errorsWait = errorSteps.contains(where: \.object.waits)
        mayWait = waits || errorsWait
        touchesDevice = steps.contains(where: \.object.touchesDevice)
        self.rule = rule
        self.timeout = timeout
        self.location = location
        super.init(command, parameters)
    }

    /// This entry, which is `default`'s, for a call of a command that no mapping has.
    func forUnknown(_ command: String) -> MappingEntry {
        MappingEntry(command, validation: steps, errorSteps: errorSteps, timeout: timeout)
    }

    /// The command objects of a phase, in the order they run.
    public func steps(of phase: Phase) -> [Step] {
        phase == .error ? errorSteps : steps.filter { $0.object.phase == phase }
    }
}
