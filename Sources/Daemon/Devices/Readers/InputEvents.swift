internal import Concurrency
package import JSON
internal import Linux
package import Logging
package import QuickConnect
internal import Synchronization

/// The events that come from input devices. One thread has them all; it runs where any are declared.
package final class InputEvents: Sendable {
    private let declared = Mutex<[String: EventDeclaration]>([:])
    private let folders: InputFolders?
    private let store: ValueStore
    private let events: EventHub
    private let logger: Logger
    private let thread = JobThread<InputThread>("qc-readers")

    /// - Parameter folders: where the devices are; nil: a person's hand takes their place (``simulate(_:_:)``).
    package init(_ folders: InputFolders?, _ store: ValueStore, _ events: EventHub, logger: Logger) {
        (self.folders, self.store, self.events, self.logger) = (folders, store, events, logger)
    }

    /// Takes up what a table declares, which the values have taken up by then.
    package func adopt(_ table: MappingTable) {
        let bound = table.entries.compactMap { entry in
            entry.event.flatMap { event in event.binding.map { _ in (entry.command, event) } }
        }
        let new = Dictionary(bound) { first, _ in first }
        let isChanged = declared.withLock { declared in
            defer { declared = new }
            return declared != new
        }
        // A thread that could not be started is tried again.
        guard let folders, isChanged || !new.isEmpty && !thread.isRunning else { return }
        do throws(Interruption) {
            try thread.run({ $0.adopt(new) }, else: { _ in }) { [store, events, logger] in
                InputThread(folders, store, events, logger: logger)
            }
        } catch {
            logger.error("input devices do not work: \(error)")
        }
    }

    /// Frees the devices. Returns when they are, or after two seconds.
    package func close() async { await thread.ask(within: .seconds(2), isLast: true) { $0.adopt([:]) } }

    /// The names of the events that come from devices.
    package var names: [String] { declared.withLock { $0.keys.sorted() } }

    /// Why events are missing, by their names.
    func lacks() async -> [String: CommandError] {
        guard thread.isRunning else { return [:] }
        let hangs = CommandError(.unavailable, "a call of a driver has not come back for 5 s: an input device hangs")
        let lacks = await thread.ask(within: .seconds(5)) { thread in
            thread.retry()
            return thread.lacks
        }
        return lacks ?? ["readers": hangs]
    }

    /// Types on a simulated device: a reader's text, or a key as its event has it; a key's name alone presses and releases it.
    /// Throws `invalid` for what does not fit.
    /// - Parameter value: nil or null: nothing is typed.
    /// - Returns: what was typed, else null; nil if there is no event of that name.
    package func simulate(_ name: String, _ value: JSONValue?) throws(CommandError) -> JSONValue? {
        guard folders == nil, let declaration = declared.withLock({ $0[name] }) else { return nil }
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
        let lacks = await events.lacks().sorted { $0.key < $1.key }
        var findings = lacks.map { Finding("readers", of: $0.key, $0.value) }
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
