/// All commands of the daemon, resolved. Immutable: a reload makes a new one, and calls under way keep theirs.
public struct MappingTable: Sendable {
    public let entries: [String: MappingEntry]
    /// What stands in `default`, for commands that no file names (handlers as commands).
    let defaults: MappingEntry

    /// The commands that do nothing, `ping` above all.
    private let emptyCommands: [EmptyCommand]

    public init() { self.init(entries: [:], defaults: MappingEntry(MappingDeclaration.defaultName)) }

    init(entries: [String: MappingEntry], defaults: MappingEntry) {
        self.entries = entries
        self.defaults = defaults
        emptyCommands = entries.values.filter(\.isEmpty).map { EmptyCommand($0.command) }
    }

    func emptyReply(to command: borrowing Span<UInt8>) -> [UInt8]? {
        for empty in emptyCommands where empty.isNamed(command) { return empty.replyStart }
        return nil
    }

    public subscript(command: String) -> MappingEntry? { entries[command] }

    /// The entry of a command that a handler is by itself: `default`'s command objects, then the handler.
    func entry(of handler: String, _ object: any CommandObject) -> MappingEntry {
        MappingEntry(
            handler,
            help: "A handler that a client registered.",
            validation: defaults.steps(of: .validation),
            business: defaults.steps(of: .business) + [MappingEntry.Step("script:\(handler)", object)],
            view: defaults.steps(of: .view),
            errorSteps: defaults.errorSteps,
            rule: defaults.rule,
            timeout: defaults.timeout
        )
    }
}

/// One command, resolved: who may run it, with which parameters, and its stack.
public final class MappingEntry: Sendable {
    /// A command object under the name it was mapped by.
    public struct Step: Sendable {
        public let name: String
        let object: any CommandObject
        var phase: Phase { object.phase }

        init(_ name: String, _ object: any CommandObject) {
            self.name = name
            self.object = object
        }
    }

    public let command: String
    public let help: String?
    /// Nil where the parameters are not checked.
    public let parameters: ParameterList?
    public let rule: AllowRule?
    public let timeout: Duration?
    /// Validation, business and view, in the order they run; `default`'s first in each phase.
    public let steps: [Step]
    public let errorSteps: [Step]
    /// Whether a call may have to wait before it is done or fails.
    public let waits: Bool
    /// Whether one of its command objects touches a device.
    public let touchesDevice: Bool
    /// Whether everybody may call it and it does nothing.
    let isEmpty: Bool
    /// Whether it has no command objects, and checks no parameters.
    var isBare: Bool { steps.isEmpty && errorSteps.isEmpty && parameters == nil }
    /// The handler that is its whole stack, a BCO.
    let relayedHandler: String?
    /// Where the command is mapped.
    public let location: SourceLocation?

    init(
        _ command: String,
        help: String? = nil,
        parameters: ParameterList? = nil,
        validation: [Step] = [],
        business: [Step] = [],
        view: [Step] = [],
        errorSteps: [Step] = [],
        rule: AllowRule? = nil,
        timeout: Duration? = nil,
        location: SourceLocation? = nil
    ) {
        self.command = command
        self.help = help
        self.parameters = parameters
        self.steps = validation + business + view
        self.errorSteps = errorSteps
        self.waits = steps.contains(where: \.object.waits)
        touchesDevice = steps.contains(where: \.object.touchesDevice)
        self.isEmpty = steps.isEmpty && rule == nil && parameters.map(\.parameters.isEmpty) ?? true
        let only = steps.count == 1 && errorSteps.isEmpty ? steps[0].object : nil
        relayedHandler = (only as? ScriptCommandObject).flatMap { $0.phase == .business ? $0.name : nil }
        self.rule = rule
        self.timeout = timeout
        self.location = location
    }

    /// The command objects of a phase, in the order they run.
    public func steps(of phase: Phase) -> [Step] {
        phase == .error ? errorSteps : steps.filter { $0.phase == phase }
    }
}
