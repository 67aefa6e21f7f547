import JSON
import Synchronization

/// Takes every request, from any listener, and has the application controller run its stack.
public final class FrontController: Sendable {
    private let currentLimits: Mutex<Limits>
    private let handlers: any CommandHandlers
    private let table: Mutex<MappingTable>
    /// The number of the current table, so that threads that cache one notice a new one.
    private let tableNumber = Atomic<Int>(0)
    private let controller: ApplicationController
    private let permissions: Permissions
    private let failures: FailureLog

    /// - Parameters:
    ///   - table: the commands.
    ///   - handlers: the commands that clients answer if no mapping has their name.
    ///   - permissions: who may do everything.
    ///   - observer: is told of the calls that fail.
    public init(
        table: MappingTable,
        handlers: any CommandHandlers,
        permissions: Permissions,
        limits: Limits = Limits(),
        waitingCalls: WaitingCalls,
        observer: (any CallObserver)? = nil
    ) {
        self.table = Mutex(table)
        currentLimits = Mutex(limits)
        self.handlers = handlers
        self.permissions = permissions
        failures = FailureLog(next: observer)
        controller = ApplicationController(waitingCalls: waitingCalls, observer: failures)
    }

    // MARK: Requests

    /// Handles one call: finds its stack, checks permissions and parameters, and runs it.
    ///
    /// A listener calls this for the calls of one connection in their order. Replies go to the connection; the reply of
    /// a call that does not wait is sent before this returns.
    func handleRequest(
        _ request: Request,
        from connection: any RoutedConnection,
        _ current: inout CurrentTable
    ) {
        current.look(at: self)
        if let entry = current.table.borrow(request.commandBytes) {
            // The table keeps the entry alive, and nobody changes the table meanwhile.
            entry { handle(request, by: $0, from: connection) }
        } else if let entry = handlerEntry(of: request, current.table) {
            // The registry may release it meanwhile.
            withExtendedLifetime(entry) { handle(request, by: entry, from: connection) }
        } else {
            handleUnknown(request, from: connection, current.table)
        }
    }

    private func handle(_ request: Request, by entry: MappingEntry, from connection: any RoutedConnection) {
        var stack = Stack(entry, request, on: connection)
        let unlisted = connection.refusal(of: entry.command, entry)
        if let refusal = unlisted ?? permissions.refusal(by: entry, connection.caller) {
            stack.refuse(refusal)
        } else {
            check(&stack, entry)
        }
        if entry.mayWait, let overload = connection.overload {
            stack.leavesOutWaitingErrorSteps = true
            if entry.waits { stack.fail(overload) }
        }
        if let wait = controller.drive(&stack, connection) { controller.keep(stack, awaiting: wait, on: connection) }
    }

    /// A call without permission gets `denied` even if its parameters do not fit.
    private func check(_ stack: inout Stack, _ entry: MappingEntry) {
        var problem: CommandError?
        do throws(CommandError) { try stack.checkParameters() } catch { problem = error }
        if entry.hasRulesOfArguments { stack.check(permissions, entry) }
        if let problem { stack.fail(problem) }
    }

    private func handlerEntry(of request: borrowing Request, _ table: MappingTable) -> MappingEntry? {
        guard request.commandBytes.count <= Limits.nameBytes else { return nil }
        return handlers.entry(of: request.command, in: table)
    }

    private func handleUnknown(_ request: Request, from connection: any RoutedConnection, _ table: MappingTable) {
        let command = request.shownCommand
        let entry = table.defaults.forUnknown(command)
        // The call borrows the entry.
        defer { withExtendedLifetime(entry) {} }
        var stack = Stack(entry, request, on: connection)
        stack.leavesOutWaitingErrorSteps = connection.overload != nil
        if let refusal = connection.refusal(of: command, nil) {
            let near = nearest(command, table).filter { connection.refusal(of: $0, table[$0]) == nil }
            stack.refuse(refusal.asking(near, instead: "no command '\(command)'"))
        } else {
            stack.fail(unknownCommand(command, table))
        }
        if let wait = controller.drive(&stack, connection) { controller.keep(stack, awaiting: wait, on: connection) }
    }

    private static func unknownCommand(_ shown: String) -> CommandError {
        CommandError(.unknownCommand, "no command '\(shown)'")
    }

    private func unknownCommand(_ shown: String, _ table: MappingTable) -> CommandError {
        let error = Self.unknownCommand(shown)
        guard handlers.has(shown), table.leavesFree(shown) else { return error.asking(nearest(shown, table)) }
        var barred = error.asking([])
        // Not whose it is, which is not everybody's business.
        barred.message +=
            ": a client has registered its handler, but may not make a command of it; it becomes \(Self.remedy(shown, "NAME"))"
        return barred
    }

    /// Mapped commands and handlers with similar names.
    private func nearest(_ name: String, _ table: MappingTable) -> [String] {
        let handlers = handlers.nearest(name).filter { !table.usesHandler($0) }
        let mapped = table.nearest(name)
        return handlers.isEmpty ? mapped : NearestNames.find(name, among: mapped + handlers)
    }

    // MARK: What commands ask

    /// The stack of a command. Throws `unknownCommand`.
    public func entry(of command: String) throws(CommandError) -> MappingEntry {
        let table = currentTable
        guard let entry = table[command] ?? handlers.entry(of: command, in: table) else {
            throw Self.unknownCommand(command.shortened).asking(nearest(command.shortened, table))
        }
        return entry
    }

    /// Why a caller may not run a command, as the error it would get; nil if it may.
    /// - Parameters:
    ///   - verb: the first parameter of the call, `set` for a value or a schedule, or `post` for an event; nil checks the
    ///     command alone.
    ///   - rule: the rule of the socket on which the caller is connected.
    public func refusal(
        of command: String,
        _ verb: String? = nil,
        for caller: Caller,
        by rule: SocketRule? = nil
    ) -> CommandError? {
        let table = currentTable
        let known = table[command] ?? (rule == nil ? nil : handlers.entry(of: command, in: table))
        if let rule, let refusal = rule.refusal(of: command.shortened, known) {
            guard known == nil else { return refusal }
            let near = nearest(command, table).filter { rule.lists($0, for: table[$0]?.gateways) }
            return refusal.asking(near, instead: "no command '\(command.shortened)'")
        }
        do throws(CommandError) {
            let entry = try entry(of: command)
            if let refusal = permissions.refusal(by: entry, caller) { return refusal }
            if entry.event != nil, verb == entry.settingVerb { return permissions.refusal(toPost: entry, caller) }
            // Whatever the first parameter of a value is, it is set to it.
            if let verb, entry.value != nil || verb == VerbRules.setting || verb == entry.settingVerb,
                let rule = entry.setRule
            {
                return permissions.refusalToSet(entry, rule, caller)
            }
            guard let verb, let rule = entry.verbs[verb] else { return nil }
            return permissions.refusal(of: verb, rule, entry, caller)
        } catch {
            return error
        }
    }

    /// Why a caller may not subscribe to an event; nil if it may.
    ///
    /// Events follow the rules of commands: a device's event is open to those who may call one of its commands, any
    /// other event to those who may call the command of the same name, if there is one. On a socket with a list, the
    /// command must be on the list (``SocketRule/lists(_:_:)``).
    /// - Parameter rule: the rule of the socket on which the caller is connected.
    public func refusal(ofEvent event: String, for caller: Caller, by rule: SocketRule? = nil) -> CommandError? {
        // A client may always know what it missed of its own subscriptions.
        if event == DaemonEvents.dropped { return nil }
        let table = currentTable
        var refusal: CommandError?
        for command in DaemonEvents.commands(of: event) {
            refusal = rule?.refusal(of: command.shortened, table[command])
            if refusal == nil, let entry = table[command] {
                refusal = permissions.refusal(by: entry, caller)
            } else if refusal == nil, DaemonEvents.needsCommand(event), !permissions.isPrivileged(caller) {
                refusal = CommandError(.denied, "no command '\(command)' is mapped")
            }
            guard refusal != nil else { return nil }
        }
        return refusal.map {
            CommandError(.denied, "the event '\(event.shortened)': \($0.message)", details: $0.details)
        }
    }

    /// The events with nearly the name of one that nobody declares, of those that a caller may have: declared ones, and what
    /// the list of its socket has that is no command.
    func nearestEvents(_ name: String, for caller: Caller, by rule: SocketRule?) -> [String] {
        let table = currentTable
        guard table[name] == nil, !DaemonEvents.names.contains(name) else { return [] }
        let declared = table.nearest(name).filter { table[$0]?.kind != .stack }
        let listed = rule?.commands.map(\.text).filter { table[$0] == nil } ?? []
        return NearestNames.find(
            name,
            among: Set(DaemonEvents.names + declared + (listed.contains(name) ? [] : listed))
        )
        .filter { refusal(ofEvent: $0, for: caller, by: rule) == nil }
    }

    /// Why a caller may not answer for a handler; nil if it may.
    public func refusal(toAnswerFor handler: String, _ caller: Caller) -> CommandError? {
        permissions.refusal(toAnswerFor: handler, in: currentTable, caller)
    }

    /// What to say of a handler that this caller registers and to which no call may come; nil if there is nothing to say.
    public func doubt(ofHandler name: String, _ caller: Caller) -> String? {
        let table = currentTable
        if let doubt = table.doubt(ofHandler: name) { return doubt }
        guard table.leavesFree(name), !permissions.mayHandleCommands(caller) else { return nil }
        let remedy = Self.remedy(name, caller.ruleName ?? "NAME")
        return "nobody can call '\(name)' yet, because no mapping uses this handler: it becomes \(remedy)"
    }

    /// The end of a sentence: what makes a command of a user's handler that no mapping uses.
    private static func remedy(_ handler: String, _ user: String) -> String {
        let (object, user) = (NameList.quoted(HandlerUses.prefix + handler), NameList.quoted(user))
        let line = "\(NameList.quoted(handler)): {business: [\(object)], answeredBy: {users: [\(user)]}}"
        return """
            a command after «quickconnect call reload», with the line «\(line)» in a file of the mappings folder, \
            or with \(user) among the users of the setting handlerCommands
            """
    }

    /// The handlers that are commands of their own and not hidden by a mapping.
    public var handlerCommands: [String] {
        let table = currentTable
        return handlers.commandNames.filter { table[$0] == nil && !table.usesHandler($0) }
    }

    /// The last error of a command since the daemon started, and when.
    public func lastFailure(of command: String) -> FailureLog.Failure? { failures.last(of: command) }

    /// The limits on what clients may ask.
    public var limits: Limits { currentLimits.withLock { $0 } }

    func replaceLimits(_ new: Limits) { currentLimits.withLock { $0 = new } }

    // MARK: The table

    /// The current commands.
    public var currentTable: MappingTable { table.withLock { $0 } }

    /// Replaces the table. Running calls keep the one they started with.
    public func replaceTable(_ new: MappingTable) {
        table.withLock { $0 = new }
        tableNumber.add(1, ordering: .releasing)
    }

    /// One thread's copy of the table: it takes a lock only if the table has been replaced.
    public struct CurrentTable {
        fileprivate private(set) var table = MappingTable()
        private var number = -1

        /// A view without a table yet.
        public init() {}

        fileprivate mutating func look(at controller: FrontController) {
            let number = controller.tableNumber.load(ordering: .acquiring)
            guard number != self.number else { return }
            table = controller.currentTable
            self.number = number
        }
    }
}
