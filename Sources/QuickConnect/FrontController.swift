internal import Concurrency
import JSON
import Synchronization

/// Takes every request, from whatever listener, and lets the application controller run its stack.
public final class FrontController: Sendable {
    public let limits: Limits
    public let events: EventHub
    public let handlers: HandlerRegistry
    private let table: Mutex<MappingTable>
    private let controller: ApplicationController
    private let ownUID: UInt32
    private let failures: FailureLog
    private let droppedAnswers = Atomic<Int>(0)

    /// - Parameters:
    ///   - table: the commands.
    ///   - handlerRule: whose handlers are commands of their own where no mapping has their name.
    ///   - ownUID: the daemon's user, who may do everything.
    ///   - observer: sees the calls that fail.
    public init(
        table: MappingTable,
        handlerRule: AllowRule? = nil,
        ownUID: UInt32,
        limits: Limits = Limits(),
        waitingCalls: WaitingCalls,
        observer: (any CallObserver)? = nil
    ) {
        self.table = Mutex(table)
        self.limits = limits
        self.ownUID = ownUID
        events = EventHub()
        handlers = HandlerRegistry(commandRule: handlerRule, ownUID: ownUID)
        failures = FailureLog(next: observer)
        controller = ApplicationController(waitingCalls: waitingCalls, observer: failures)
    }

    // MARK: Requests

    /// Handles one call: finds its stack, asks whether the caller may, checks the parameters, runs it.
    ///
    /// Called by a listener for the calls of one connection in their order. Replies go to `session`, those of a
    /// call that does not wait before this returns.
    public func handleRequest(_ request: Request, from session: Session) {
        let table = currentTable
        let mapped = table[request.command]
        let hasRoom = session.hasRoom
        if hasRoom, relays(request, mapped, table, from: session) { return }
        let entry = mapped ?? handlerEntry(request.command, table)
        var stack = Stack(
            entry ?? table.defaults,
            Call(request: request, arguments: request.parameters, session: session)
        )
        stack.leavesOutWaitingErrorSteps = !hasRoom
        if let refusal = refusal(of: request.command, entry, session) {
            stack.refuse(refusal)
            return controller.run(stack)
        }
        do throws(CommandError) {
            guard let entry else { throw unknownCommand(request.command, table) }
            if let parameters = entry.parameters {
                stack.arguments = try parameters.arguments(from: request.parameters)
            }
            if entry.waits, !hasRoom { throw overloaded }
        } catch {
            stack.fail(error)
        }
        controller.run(stack)
    }

    /// Passes a call on, where its stack is one handler that is there, and nothing refuses it; else says false.
    private func relays(
        _ request: Request,
        _ entry: MappingEntry?,
        _ table: MappingTable,
        from session: Session
    ) -> Bool {
        let rules = entry ?? table.defaults
        guard let name = entry == nil ? request.command : rules.relayedHandler, entry != nil || table.defaults.isBare,
            let handlerSession = handlers.session(of: name, asCommand: entry == nil),
            refusal(of: request.command, rules, session) == nil,
            rules.parameters.map({ (try? $0.arguments(from: request.parameters)) != nil }) ?? true
        else { return false }
        controller.relay(
            RelayedCall(request, from: session, to: name, of: handlerSession, timeout: rules.timeout, controller),
            of: session
        )
        return true
    }

    /// What the rules say: that of the socket, then that of the command.
    private func refusal(of command: String, _ entry: MappingEntry?, _ session: Session) -> CommandError? {
        session.socketRule?.refusal(of: command) ?? entry.flatMap { refusal(by: $0, session.caller) }
    }

    /// The reply, up to its id, of a command that does nothing; nil where it does something, or not everybody may.
    func emptyReply(to command: borrowing Span<UInt8>) -> [UInt8]? {
        table.withLock { $0.emptyReply(to: command) }
    }

    /// A handler that is a command by itself, where no mapping has its name.
    private func handlerEntry(_ name: String, _ table: MappingTable) -> MappingEntry? {
        guard handlers.isCommand(name) else { return nil }
        return table.entry(of: name, ScriptCommandObject(name, phase: .business, handlers: handlers))
    }

    private func unknownCommand(_ name: String, _ table: MappingTable) -> CommandError {
        let names = Array(table.entries.keys) + handlers.commandNames
        let near = NearestNames.find(name, among: names)
        let shown = name.shortened
        return CommandError(
            .unknownCommand,
            "no command '\(shown)'\(NearestNames.question(name, among: names))",
            details: ["nearest": .array(near.map(JSONValue.string))]
        )
    }

    private var overloaded: CommandError {
        CommandError(
            .overloaded,
            "\(limits.callsPerConnection) calls of this connection are under way; wait for a reply, or cancel one"
        )
    }

    /// The stack of a command. Throws `unknownCommand`.
    public func entry(of command: String) throws(CommandError) -> MappingEntry {
        let table = currentTable
        guard let entry = table[command] ?? handlerEntry(command, table) else { throw unknownCommand(command, table) }
        return entry
    }

    // MARK: Permission

    private func refusal(by entry: MappingEntry, _ caller: Caller) -> CommandError? {
        guard let rule = entry.rule, !caller.isPrivileged(ownUID: ownUID), !rule.names(caller) else { return nil }
        return CommandError.denied(entry.command, rule)
    }

    /// Whether a caller may run a command: nil where it may, else the error it would get.
    /// - Parameter rule: that of the socket the caller comes by.
    public func refusal(of command: String, for caller: Caller, by rule: SocketRule? = nil) -> CommandError? {
        if let refusal = rule?.refusal(of: command) { return refusal }
        do throws(CommandError) {
            return refusal(by: try entry(of: command), caller)
        } catch {
            return error
        }
    }

    /// Whether the caller may end or stop what another caller started: root, the daemon's user, the same user.
    public func mayEnd(_ caller: Caller) -> @Sendable (_ other: Caller) -> Bool {
        let isPrivileged = caller.isPrivileged(ownUID: ownUID)
        return { other in isPrivileged || caller.isSameUser(as: other) }
    }

    // MARK: The table

    /// The commands as they are now.
    public var currentTable: MappingTable { table.withLock { $0 } }

    /// Puts a new table in place. Calls under way keep the one they started with.
    public func replaceTable(_ new: MappingTable) { table.withLock { $0 = new } }

    // MARK: Counts

    /// The last error of a command since the daemon started, and when.
    public func lastFailure(of command: String) -> FailureLog.Failure? { failures.last(of: command) }

    /// Answers to no question, dropped since the daemon started.
    public var droppedAnswerCount: Int { droppedAnswers.load(ordering: .relaxed) }

    func countDroppedAnswer() { droppedAnswers.add(1, ordering: .relaxed) }
}

extension String {
    /// A name that a caller made up, as messages show it.
    var shortened: String { utf8.count <= 128 ? self : "\(prefix(40))…" }
}

extension CommandError {
    /// `denied`, with the rule, where it is written, and the line that would allow it to one more user.
    static func denied(_ command: String, _ rule: AllowRule) -> CommandError {
        let users = (rule.userNames + ["NAME"]).joined(separator: ", ")
        let groups = rule.groupNames.isEmpty ? "" : ", groups: [\(rule.groupNames.joined(separator: ", "))]"
        let line = "\(command): {allow: {users: [\(users)]\(groups)}}"
        let sentence = """
            \(command) is allowed to \(rule.words) (\(rule.location)); \
            the line «\(line)» in a file of the mappings folder would allow it
            """
        return CommandError(
            .denied,
            sentence,
            details: [
                "rule": .string(rule.words), "location": .string(rule.location.description), "allow": .string(line),
            ]
        )
    }
}
