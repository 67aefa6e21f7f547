internal import Concurrency
package import JSON
internal import Linux
package import Logging
package import QuickConnect
internal import Synchronization

/// The events that come from input devices. One thread has them all; it runs where any are declared.
package final class InputEvents: Sendable {
    private struct State {
        var declared: [String: EventDeclaration] = [:]
        var isChanged = false
        var isRunning = false
        var isOver = false
        /// Who waits for what is missing.
        var questions: [Promise<[String: CommandError]>] = []
        /// Who waits for the devices to be free.
        var closing: Promise<Void>?
    }

    private let state = Mutex(State())
    private let folders: InputFolders?
    private let store: ValueStore
    private let events: EventHub
    private let logger: Logger
    private let waker = try? Waker()

    /// - Parameter folders: where the devices are; nil: a person's hand takes their place (``simulate(_:_:)``).
    package init(_ folders: InputFolders?, _ store: ValueStore, _ events: EventHub, logger: Logger) {
        (self.folders, self.store, self.events, self.logger) = (folders, store, events, logger)
    }

    /// Takes up what a table declares, which the values have taken up by then.
    package func adopt(_ table: MappingTable) {
        let bound = table.entries.compactMap { entry in
            entry.event.flatMap { event in event.binding.map { _ in (entry.command, event) } }
        }
        let begins = state.withLock { state in
            let declared = Dictionary(bound) { first, _ in first }
            state.isChanged = state.isChanged || state.declared != declared
            state.declared = declared
            let begins = folders != nil && !state.isRunning && !declared.isEmpty && !state.isOver
            if begins { state.isRunning = true }
            return begins
        }
        waker?.wake()
        guard begins else { return }
        guard PThread.start("qc-readers", { self.loop() }) != 0 else { return }
        logger.error("no thread for input devices can be started")
        state.withLock { $0.isRunning = false }
    }

    /// Frees the devices. Returns when they are, or after two seconds.
    package func close() async {
        let done = Promise<Void>()
        let isRunning = state.withLock { state in
            (state.isOver, state.closing) = (true, done)
            return state.isRunning
        }
        guard isRunning else { return }
        waker?.wake()
        _ = try? await done.value(before: .now + .seconds(2))
    }

    /// The names of the events that come from devices.
    package var names: [String] { state.withLock { $0.declared.keys.sorted() } }

    /// Why events are missing, by their names.
    func lacks() async -> [String: CommandError] {
        let answer = Promise<[String: CommandError]>()
        let isAsked = state.withLock { state in
            if state.isRunning { state.questions.append(answer) }
            return state.isRunning
        }
        guard isAsked else { return [:] }
        waker?.wake()
        let hangs = CommandError(.unavailable, "a call of a driver has not come back for 5 s: an input device hangs")
        return (try? await answer.value(before: .now + .seconds(5))) ?? ["readers": hangs]
    }

    /// Types on a simulated device: a reader's text, or a key as its event has it; a key's name alone presses and releases it.
    /// Throws `invalid` for what does not fit.
    /// - Parameter value: nil or null: nothing is typed.
    /// - Returns: what was typed, else null; nil if there is no event of that name.
    package func simulate(_ name: String, _ value: JSONValue?) throws(CommandError) -> JSONValue? {
        guard folders == nil, let declaration = state.withLock({ $0.declared[name] }) else { return nil }
        guard let value, value != .null else { return .null }
        var steps = [value]
        if case .keys? = declaration.binding?.kind, value.stringValue != nil {
            steps = [true, false].map { ["key": value, "pressed": .bool($0)] }
        }
        for step in steps {
            guard declaration.parameter.fits(step) else { throw declaration.parameter.refusal(of: step, at: "/1") }
            try checkKey(step, declaration)
            guard step != "" else { throw .invalid("/1", expected: "data, a string that is not empty", got: step.gist) }
        }
        for step in steps { store.note(name, step) }
        return value
    }

    /// Throws for a key that no device can have: one without names of its own tells the kernel's.
    private func checkKey(_ step: JSONValue, _ declaration: EventDeclaration) throws(CommandError) {
        guard case .keys(let names)? = declaration.binding?.kind, names.isEmpty,
            let key = step.objectValue?["key"]?.stringValue, InputName.code(ofKey: key) == nil
        else { return }
        let near = NearestNames.question(key, among: InputName.keys)
        let expected = "key, the kernel's name of one, such as KEY_A"
        throw .invalid("/1/key", expected: expected, got: "'\(key.shortened)'\(near)")
    }

    // MARK: The thread

    private func loop() {
        guard let waker, let folders else {
            logger.error("the process has no file descriptors left for its input devices")
            return end()
        }
        let thread = InputThread(folders, store, events, logger: logger)
        while true {
            let (declared, isOver) = state.withLock { state in
                defer { state.isChanged = false }
                return (state.isChanged ? state.declared : nil, state.isOver)
            }
            if isOver { thread.adopt([:]) } else if let declared { thread.adopt(declared) }
            let questions = state.withLock { state in
                defer { state.questions = [] }
                return state.questions
            }
            if !questions.isEmpty { thread.retry() }
            for question in questions { question.fulfil(thread.lacks) }
            guard !isOver else { break }
            thread.turn(waker)
        }
        end()
    }

    /// The thread ends; nobody shall wait for it.
    private func end() {
        let (questions, closing) = state.withLock { state in
            defer { (state.isRunning, state.questions) = (false, []) }
            return (state.questions, state.closing)
        }
        for question in questions { question.fulfil([:]) }
        closing?.fulfil(())
    }
}

/// What the doctor says of the events that come from input devices.
package struct InputDoctor: Examined {
    let events: InputEvents
    /// Whether the service starts with the machine; until then a reader types wherever a keyboard would.
    let startsAtBoot: @Sendable () -> Bool

    package init(events: InputEvents, startsAtBoot: @escaping @Sendable () -> Bool) {
        (self.events, self.startsAtBoot) = (events, startsAtBoot)
    }

    /// Each that is missing, with the command that helps; else that all are there.
    package func examine(thoroughly _: Bool) async -> [Finding] {
        let count = events.names.count
        guard count > 0 else { return [] }
        var findings = await events.lacks().sorted { $0.key < $1.key }.map { Finding($0.key, $0.value) }
        if !startsAtBoot() {
            let says =
                "until somebody has connected, readers type into the console or the desktop, because the service does not start with the machine"
            findings.append(Finding("readers", .warning, says, fix: "sudo systemctl enable quickconnectd.service"))
        }
        guard findings.isEmpty else { return findings }
        let noun =
            count == 1 ? "event comes from an input device, which is" : "events come from input devices, which are"
        return [Finding("readers", .ok, "\(count) \(noun) there")]
    }
}
