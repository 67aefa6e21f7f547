import QuickConnect

/// What a daemon should do, in the plainest way: lists, looked through each time. The rules are those of docs/history.md.
struct Model {
    struct Handler {
        var name: String
        var client: Int
        var hearsCancel: Bool
        /// A reload forbids its client to answer for it.
        var sleeps = false
    }

    struct Subscription {
        var event: String
        var client: Int
        var form: WireForm
    }

    let device: Device
    var table = 0
    var ended: Set<Int> = []
    var closed: Set<Int> = []
    var isFinishing = false
    var handlers: [Handler] = []
    var subscriptions: [Subscription] = []
    /// The calls that wait, or have waited and are not over.
    var kept: [Run] = []
    /// The questions that somebody may answer.
    var questions: [Question] = []
    /// All that were ever asked, and whom.
    var asked: [QuestionKey: Int] = [:]
    var droppedAnswers = 0
    /// What runs by itself as soon as the step is done.
    var ready: [Run] = []
    var expected = Expectation()

    init(_ device: Device) { self.device = device }

    /// Takes one step, and says what must come of it.
    mutating func take(_ step: Step) -> Expectation {
        expected = Expectation()
        switch step {
        case .calls(let connection, let lines): for line in lines where isOpen(connection) { call(line, connection) }
        case .settle(let key, let outcome): settle(key, outcome)
        case .answer(let key, let answer): take(answer, to: key)
        case .stray(let connection): if isOpen(connection) { droppedAnswers += 1 }
        case .alarm: inAnyOrder(kept.filter(\.isShort)) { $0.interrupt($1, .timeout) }
        case .endInput(let connection): endInput(connection)
        case .close(let connection): close(connection)
        case .reload(let number): reload(number)
        case .finish: isFinishing = true
        case .endAll: inAnyOrder(kept) { $0.interrupt($1, .cancelled) }
        }
        runReady(after: step)
        expected.add(
            Told.state(
                waiting: (0..<device.connections).map { waitingCount($0) },
                dropped: droppedAnswers,
                handlers: handlers.filter { !$0.sleeps }.map { ($0.name, $0.client) },
                subscribers: Set(subscriptions.map(\.event)).map { event in
                    (event, subscriptions.count { $0.event == event })
                }
            )
        )
        return expected
    }

    /// Whether a connection still sends.
    func isOpen(_ connection: Int) -> Bool { !ended.contains(connection) && !closed.contains(connection) }

    func isClosed(_ connection: Int) -> Bool { closed.contains(connection) }

    func waitingCount(_ connection: Int) -> Int { kept.count { $0.connection == connection } }

    mutating func inAnyOrder<Item>(_ items: [Item], _ body: (inout Model, Item) -> Void) {
        expected.beginBag()
        for item in items {
            expected.beginChain()
            body(&self, item)
        }
        expected.endBag()
    }

    mutating func tell(_ connection: Int, _ text: String) {
        if !closed.contains(connection) { expected.add(text) }
    }

    // MARK: Calls

    var commands: [MappedCommand] { device.tables[table] }
    var defaults: MappedCommand { commands[0] }

    func isUsed(_ handler: String) -> Bool {
        commands.contains { $0.parts.contains { $0.way == .handler(handler) } }
    }

    mutating func call(_ line: Line, _ connection: Int) {
        let isFull = waitingCount(connection) >= device.maxCalls
        let mapped = commands.dropFirst().first { $0.name == line.command }
        guard let command = mapped ?? handlerCommand(line.command) else {
            let run = Run(line, connection, MappedCommand(name: line.command), behind: defaults)
            run.leavesOutWaitingErrorParts = isFull
            run.fail(.unknownCommand)
            return goOn(run)
        }
        let run = Run(line, connection, command, behind: defaults)
        if !may(connection, command) {
            run.fail(.denied)
        } else if command.takesNumber, line.arguments.count != 1 {
            run.fail(.invalid)
        }
        if isFull, run.mayWait {
            run.leavesOutWaitingErrorParts = true
            if run.parts.contains(where: \.way.waits) { run.fail(.overloaded) }
        }
        goOn(run)
    }

    func handlerCommand(_ name: String) -> MappedCommand? {
        guard let handler = handlers.first(where: { $0.name == name }), Device.mayHandleCommands(handler.client),
            !isUsed(name), !MappingDeclaration.reservedNames.contains(name)
        else { return nil }
        let part = Part(name: name, phase: .business, way: .handler(name), outcome: .next)
        return MappedCommand(name: name, parts: [part])
    }

    func may(_ connection: Int, _ command: MappedCommand) -> Bool {
        command.allowed.map { $0.contains { Device.user($0) == Device.user(connection) } } ?? true
    }

    /// Runs command objects to the next wait, or to the end.
    mutating func goOn(_ run: Run) {
        while let part = run.next() {
            switch part.way {
            case .plain, .readily:
                note(part, run)
                take(part.outcome, of: part, run)
            case .shipped: take(perform(part.name, run), of: part, run)
            case .quick, .promise, .operation, .deaf:
                note(part, run)
                if wait(Run.Wait(part: part), run) { return }
            case .handler(let name):
                guard let handler = handlers.first(where: { $0.name == name && !$0.sleeps }) else {
                    take(.fail(.unavailable), of: part, run)
                    continue
                }
                if ask(handler, part, run) { return }
            }
        }
        finish(run)
    }

    mutating func note(_ part: Part, _ run: Run) {
        expected.add(
            Told.ran(
                part.name,
                run.arguments,
                results: run.results,
                handedOn: run.handedOn.first,
                run.error?.rawValue
            )
        )
    }

    /// What came of a command object.
    mutating func take(_ outcome: Outcome, of part: Part, _ run: Run) {
        switch outcome {
        case .next: break
        case .handOn: run.handedOn.append(part.name)
        case .end: run.end()
        case .give(let value, let command, let ends):
            if part.phase == .business {
                run.results.append(value)
                run.resultCommand = command
            } else {
                tellReply(value, under: command, run)
            }
            if ends { run.end() }
        case .fail(let code):
            // A ValCO that could not decide keeps its code.
            let kept: [CommandError.Code] = [
                .unavailable, .timeout, .cancelled, .overloaded, .scriptFailed, .internal,
            ]
            run.fail(part.phase == .validation && !kept.contains(code) ? .invalid : code)
        }
    }

    mutating func tellReply(_ value: String, under command: String?, _ run: Run) {
        let id = run.hasReplied ? nil : run.line.id
        run.hasReplied = true
        let own = run.line.command
        let isOwn = command == nil || command == own
        let shown = run.line.form == .bridge && id != nil && isOwn ? nil : command ?? own
        tell(run.connection, Told.line(run.connection, run.line.form, shown, value, id))
    }

    mutating func finish(_ run: Run) {
        if let error = run.error {
            expected.add(Told.failed(run.line.command, run.arguments, error.rawValue))
            let id = run.hasReplied ? nil : run.line.id
            let code = error.rawValue
            tell(run.connection, Told.error(run.connection, run.line.form, code, of: run.line.command, id))
        } else if !run.hasReplied, run.line.id != nil {
            tellReply(run.results.last ?? "null", under: run.resultCommand, run)
        }
        guard run.isKept else { return }
        kept.removeAll { $0 === run }
        if ended.contains(run.connection), waitingCount(run.connection) == 0, !isClosed(run.connection) {
            expected.add(Told.finished(run.connection), behindAll: "\(connectionName(run.connection)) gets")
        }
    }
}
