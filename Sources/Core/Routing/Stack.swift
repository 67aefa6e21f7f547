/// One call on its way through the command objects of its command: the rules of docs/history.md as a value.
///
/// It does no I/O: its driver sends the replies that it returns and waits for what it names.
struct Stack: ~Copyable, Sendable {
    enum Step: Sendable {
        /// Send this, then advance.
        case reply(Reply)
        /// Await this, then resume.
        case wait(Wait)
        /// The end. The final reply is due if ``isOwed`` is true.
        case finished
    }

    /// What a VCO sends.
    struct Reply: Sendable {
        var message: Message
        /// The command of the reply, if it is not the call's own.
        var command: String?
        /// Whether it is the call's one final reply, which carries the id.
        var isFinal: Bool
    }

    /// Its command, borrowed.
    private let entry: Borrowed<MappingEntry>
    /// When it began; nil unless the observer is told of its end.
    let began: Duration?
    private(set) var call: Call
    private var index = 0
    private var inErrorPhase = false
    /// Whether a VCO has given the call's final reply.
    private var hasReplied = false
    /// Whether ECOs that wait are skipped because the connection has no room for another waiting call.
    var leavesOutWaitingErrorSteps = false

    /// A stack at its first command object.
    @inline(__always)
    init(_ entry: MappingEntry, _ request: Request, on connection: any CallConnection) {
        self.entry = Borrowed(entry)
        call = Call(request, entry, on: connection)
        began = entry.touchesDevice ? Self.now : nil
    }

    /// From now on it may outlive the objects that it borrows.
    mutating func keep() { call.keep() }

    var timeout: Duration? { entry { $0.timeout } }

    /// The time since the process first used this clock. A `ContinuousClock.Instant` is not a plain value and costs
    /// more to copy.
    static var now: Duration {
        // Most calls do not use it, so it should not enlarge their code.
        @inline(never) get { start.duration(to: .now) }
    }
    private static let start = ContinuousClock.now

    /// How many command objects the current phases have.
    private var stepCount: Int { entry { inErrorPhase ? $0.errorSteps.count : $0.steps.count } }

    /// One of them; the entry keeps it alive.
    private func object(_ index: Int) -> Borrowed<StepObject> {
        entry { Borrowed((inErrorPhase ? $0.errorSteps : $0.steps)[index].object) }
    }

    /// The phase of the command object that ran last.
    var phase: Phase { index > 0 ? object(index - 1)({ $0.phase }) : .validation }

    /// Checks what was sent against the declared parameters. Throws `invalid`.
    mutating func checkParameters() throws(CommandError) {
        guard let declared = entry({ $0.borrowedParameters }) else { return }
        call.trailing = try call.borrowedRequest.attempt { request throws(CommandError) in
            try declared.attempt { declared throws(CommandError) in try declared.check(request) }
        }
    }

    /// Applies the rules of `verbs`. Runs after the parameter check, which decides which argument is the verb.
    mutating func check(_ permissions: Permissions, _ entry: MappingEntry) {
        switch permissions.verdict(on: call, by: entry) {
        case .noRule: break
        case .granted: call.isGrantedByVerb = true
        case .refused(let error): refuse(error)
        }
    }

    /// Runs until the driver has something to do.
    mutating func advance() -> Step {
        while index < stepCount {
            let object = object(index)
            index += 1
            if inErrorPhase, leavesOutWaitingErrorSteps, object({ $0.waits }) { continue }
            do throws(CommandError) {
                switch try object.attempt({ object throws(CommandError) in try object.run(&call) }) {
                case .next: break
                case .end: index = stepCount
                case .reply(let message, let command, let ends):
                    if ends { index = stepCount }
                    return .reply(reply(message, under: command))
                case .waits(let wait): return .wait(wait)
                }
            } catch {
                fail(error, in: object { $0.phase })
            }
        }
        return .finished
    }

    /// Takes the awaited outcome; call ``advance()`` after it.
    /// - Returns: a reply to send before that.
    mutating func resume(with result: Result<StepOutcome, CommandError>) -> Reply? {
        switch result {
        case .success(let outcome): return take(outcome)
        case .failure(let error): if index > 0 { fail(error, in: phase) }
        }
        return nil
    }

    private mutating func take(_ outcome: StepOutcome) -> Reply? {
        switch call.take(outcome) {
        case .next, .waits: return nil
        case .end: index = stepCount
        case .reply(let message, let command, let ends):
            if ends { index = stepCount }
            return reply(message, under: command)
        }
        return nil
    }

    // MARK: Errors

    /// Ends the call with an error from a rule.
    mutating func refuse(_ error: CommandError) {
        call.isRefused = true
        fail(error)
    }

    /// Ends the three phases with an error, and then runs the error phase. An error within the error phase only skips
    /// the command object that failed.
    mutating func fail(_ error: CommandError) {
        guard !call.hasFailed else { return }
        call.error = error
        inErrorPhase = true
        index = 0
    }

    private mutating func fail(_ error: CommandError, in phase: Phase) {
        fail(phase == .validation ? error.asRefusal : error)
    }

    // MARK: Replies

    /// The first one is the call's final reply; further ones are sent without an id.
    private mutating func reply(_ message: consuming Message, under command: consuming String?) -> Reply {
        defer { hasReplied = true }
        return Reply(message: message, command: command, isFinal: !hasReplied)
    }

    /// Whether the call has not had its final reply.
    var isOwed: Bool { !hasReplied }
}

extension CommandError {
    /// The error as the refusal of a validation command object, which is always `invalid`. A command object that could
    /// not decide keeps its own code.
    fileprivate var asRefusal: CommandError {
        switch code {
        case .badRequest, .unknownCommand, .denied, .notFound, .unsupported, .busy, .tooLarge:
            CommandError(.invalid, message, details: details)
        case .invalid, .unavailable, .timeout, .cancelled, .overloaded, .scriptFailed, .internal: self
        }
    }
}
