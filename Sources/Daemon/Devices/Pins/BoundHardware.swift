internal import Concurrency
package import JSON
package import Logging
package import QuickConnect
import Synchronization

/// The values that are bound to hardware: one thread takes, sets and reads their pins, another one reads sensors.
package final class BoundHardware: Sendable {
    private struct State {
        var declared: [String: ValueDeclaration] = [:]
        /// Which sensors are being read, and who waits for them.
        var readers: [String: [Promise<JSONValue>]] = [:]
        /// The numbers that subscribers know.
        var told: [String: Double] = [:]
        var sensorLacks: [String: CommandError] = [:]
        /// What sensors have said last, and when.
        var reads: [String: (value: JSONValue, time: ContinuousClock.Instant)] = [:]
        /// Connections whose end is awaited.
        var connections: Set<ObjectIdentifier> = []
    }

    private let state = Mutex(State())
    private let pins: any BoundPins
    private let folder: String?
    private let store: ValueStore
    private let events: EventHub
    private let logger: Logger
    private let thread = JobThread<BoundThread>("qc-pins")
    private let sensorThread = SideThread<Void>("qc-sensors", wake: {})
    /// How long what a sensor has said stands in for one failed read.
    private static let standsFor = Duration.seconds(60)

    /// - Parameters:
    ///   - folder: where GPIO chips come and go; nil: they do not.
    package init(_ pins: any BoundPins, folder: String? = nil, _ store: ValueStore, _ events: EventHub, logger: Logger)
    {
        (self.pins, self.folder, self.store, self.events, self.logger) = (pins, folder, store, events, logger)
    }

    /// Takes up what a table declares, which the values have taken up by then. Calls that come later wait for it.
    package func adopt(_ table: MappingTable) {
        let bound = table.entries.compactMap { entry in
            entry.value.flatMap { value in value.binding.map { _ in (entry.command, value) } }
        }
        let declared = Dictionary(bound) { first, _ in first }
        let old = state.withLock { state in
            let old = state.declared
            state.declared = declared
            state.told = state.told.filter { declared[$0.key] != nil }
            state.sensorLacks = state.sensorLacks.filter { declared[$0.key] != nil }
            state.reads = state.reads.filter { declared[$0.key]?.binding == old[$0.key]?.binding }
            return old
        }
        guard !old.isEmpty || !declared.isEmpty else { return }
        pins.declare(inputs: declared.filter(\.value.isInput))
        let sources = declared.filter(\.value.isInput).map { BoundEvent(name: $0.key, hardware: self) }
        run { [events] thread in
            thread.adopt(declared)
            events.replaceSources(Set(old.filter(\.value.isInput).keys), with: sources)
        }
    }

    /// Every output returns to its default. Returns when they have, or after two seconds.
    package func close() async {
        await thread.ask(within: .seconds(2), isLast: true) { $0.end() }
    }

    /// Returns outputs to their defaults, where no daemon has them.
    /// - Returns: a sentence for each that could not be.
    package static func release(_ values: [(name: String, value: ValueDeclaration)], _ pins: any BoundPins) -> [String]
    {
        values.sorted { $0.name < $1.name }.compactMap { name, value in
            guard value.binding?.isOutput ?? false else { return nil }
            let output = BoundOutput(name, value, pins, value: value.initial)
            defer { output.close() }
            // What is not there moves nothing.
            guard let lack = output.lack, !lack.isMissingPart else { return nil }
            return "'\(name)' is not at its default: \(lack.message)"
        }
    }

    // MARK: Calls

    /// Sets an output.
    /// - Parameters:
    ///   - declaration: what the plan was made for; with another one since a reload it is `unavailable`.
    ///   - plan: what it is set to, made of what it is now, before anything else can set it.
    package func set(
        _ name: String,
        _ declaration: ValueDeclaration,
        for connection: any CallConnection,
        _ plan: @escaping @Sendable (JSONValue) throws(CommandError) -> OutputPlan
    ) throws(CommandError) -> Promise<JSONValue> {
        let answer = Promise<JSONValue>()
        run(for: answer) { thread throws(CommandError) in try thread.set(name, declaration, of: connection, plan) }
        // Afterwards: the connection may be gone already.
        if declaration.hasLease { awaitEnd(of: connection) }
        return answer
    }

    /// What an input or a sensor is now, read from the hardware.
    package func read(_ name: String) throws(CommandError) -> Promise<JSONValue> {
        let answer = Promise<JSONValue>()
        if case .sensor? = try declaration(of: name).binding {
            readSensor(name, for: answer)
        } else {
            run(for: answer) { thread throws(CommandError) in try thread.read(name) }
        }
        return answer
    }

    /// What is declared now; throws `unavailable` for what a reload has removed.
    package func declaration(of name: String) throws(CommandError) -> ValueDeclaration {
        guard let declaration = state.withLock({ $0.declared[name] }) else {
            throw CommandError(.unavailable, "the value '\(name)' no longer exists; a reload removed it")
        }
        return declaration
    }

    private func awaitEnd(of connection: any CallConnection) {
        let id = ObjectIdentifier(connection)
        guard state.withLock({ $0.connections.insert(id).inserted }) else { return }
        connection.whenClosed { [weak self] in
            guard let self else { return }
            state.withLock { _ = $0.connections.remove(id) }
            run { $0.connectionEnded(id) }
        }
    }

    fileprivate func watch(_ name: String, _ isWatched: Bool) {
        let declaration = state.withLock { $0.declared[name] }
        var interval: Duration?
        if case .sensor? = declaration?.binding { interval = declaration?.interval }
        // The first who comes hears the present number.
        state.withLock { $0.told[name] = nil }
        run { [interval] in $0.watch(name, isWatched, every: interval) }
    }

    // MARK: Sensors

    private func readSensor(_ name: String, for answer: Promise<JSONValue>?) {
        let (declaration, begins) = state.withLock { state -> (ValueDeclaration?, Bool) in
            guard let declaration = state.declared[name], declaration.sensorInterval != nil else { return (nil, false) }
            defer { state.readers[name, default: []] += [answer].compactMap { $0 } }
            return (declaration, state.readers[name] == nil)
        }
        guard let declaration, case .sensor(let binding)? = declaration.binding else {
            answer?.fail(CommandError(.unavailable, "the value '\(name)' no longer exists; a reload removed it"))
            return
        }
        guard begins else { return }
        let sensor = pins.openSensor(name, binding)
        sensorThread.run(for: name) { [weak self] in
            let result = Result { () throws(CommandError) in JSONValue.shortest(try sensor.read()) }
            self?.sensorWasRead(name, declaration, result)
        }
    }

    private func sensorWasRead(
        _ name: String,
        _ declaration: ValueDeclaration,
        _ result: Result<JSONValue, CommandError>
    ) {
        var result = result
        let (waiting, isNews, isNewLack) = state.withLock { state -> ([Promise<JSONValue>], Bool?, Bool) in
            let waiting = state.readers.removeValue(forKey: name) ?? []
            // A reload may have made something else of the name.
            guard state.declared[name]?.binding == declaration.binding else { return (waiting, nil, false) }
            let last = state.reads.removeValue(forKey: name)
            guard case .success(let value) = result, let number = value.numberValue else {
                // The next failure in a row is told.
                if case .failure(let error) = result, error.code == .unavailable, !error.isMissingPart, let last,
                    last.time > .now - Self.standsFor
                {
                    result = .success(last.value)
                    return (waiting, nil, false)
                }
                let isNew = state.sensorLacks[name] == nil
                if case .failure(let error) = result { state.sensorLacks[name] = error }
                return (waiting, false, isNew)
            }
            state.sensorLacks[name] = nil
            state.reads[name] = (value, .now)
            let told = state.told[name]
            let isNews = told.map { $0 != number && abs($0 - number) >= declaration.step } ?? true
            if isNews { state.told[name] = number }
            return (waiting, isNews, false)
        }
        switch result {
        case .success(let value):
            if let isNews { isNews ? store.note(name, value, kind: .sensor) : store.take(name, value) }
            for promise in waiting { promise.fulfil(value) }
        case .failure(let error):
            if isNewLack { logger.warning("'\(name)': \(error.message)") }
            for promise in waiting { promise.fail(error) }
        }
    }

    // MARK: The thread

    /// Why values are missing, by their names.
    package func lacks() async -> [String: CommandError] {
        let sensors = state.withLock { $0.sensorLacks }
        guard thread.isRunning else { return sensors }
        let hangs = CommandError(
            .unavailable,
            "a call of a driver has not come back for 5 s: a chip hangs, and lines wait for it"
        )
        let others = await thread.ask(within: .seconds(5)) { $0.lacks } ?? ["hardware": hangs]
        return others.merging(sensors) { one, _ in one }
    }

    /// All that is declared, by its name.
    package var declared: [String: ValueDeclaration] { state.withLock { $0.declared } }

    private func run(
        for answer: Promise<JSONValue>,
        _ question: @escaping @Sendable (BoundThread) throws(CommandError) -> JSONValue
    ) {
        run(
            { thread in answer.settle { () throws(CommandError) in try question(thread) } },
            else: { answer.fail(.init($0)) }
        )
    }

    private func run(
        _ job: @escaping JobThread<BoundThread>.Job,
        else dropped: (@Sendable (Interruption) -> Void)? = nil
    ) {
        do throws(Interruption) {
            try thread.run(job, else: dropped) { [self] in
                BoundThread(
                    pins,
                    store,
                    events,
                    folder: folder,
                    readSensor: { [weak self] in self?.readSensor($0, for: nil) },
                    logger: logger
                )
            }
        } catch {
            logger.error("what is bound to hardware does not work: \(error)")
        }
    }
}

/// The event of what is read. It runs while somebody subscribes.
private struct BoundEvent: EventSource {
    let name: String
    let hardware: BoundHardware

    func start(publishingTo _: EventHub) { hardware.watch(name, true) }
    func stop() { hardware.watch(name, false) }
}
