import CLinux
import Concurrency
import Glibc
import JSON
import Logging
import QuickConnect

/// What the thread of bound values has. Nobody else uses it.
final class BoundThread: TurnTaker {
    private let pins: any BoundPins
    private let store: ValueStore
    private let events: EventHub
    private let logger: Logger
    private let readSensor: (String) -> Void
    private var outputs: [String: BoundOutput] = [:]
    private var inputs: [String: BoundInput] = [:]
    private var sensors: [String: SensorWatch] = [:]
    /// Where chips come and go; negative: it is not watched.
    private let folderWatch: Int32
    private var retryAt: ContinuousClock.Instant?

    /// A sensor that somebody subscribes to.
    struct SensorWatch {
        let interval: Duration
        var due: ContinuousClock.Instant
    }

    /// - Parameters:
    ///   - folder: where GPIO chips come and go; nil: they do not.
    ///   - readSensor: has a sensor read elsewhere, because that may take its time.
    init(
        _ pins: any BoundPins,
        _ store: ValueStore,
        _ events: EventHub,
        folder: String?,
        readSensor: @escaping (String) -> Void,
        logger: Logger
    ) {
        (self.pins, self.store, self.events, self.logger) = (pins, store, events, logger)
        self.readSensor = readSensor
        folderWatch = folder == nil ? -1 : qc_watch_start()
        if let folder, folderWatch >= 0 { _ = qc_watch_devices(folderWatch, folder) }
    }

    deinit { if folderWatch >= 0 { close(folderWatch) } }

    // MARK: Declarations

    /// Takes up what is declared now. What has not changed keeps its line and its state.
    func adopt(_ declared: [String: ValueDeclaration]) {
        let watched = Set(inputs.values.filter(\.isWatched).map(\.name)).union(sensors.keys)
        for (name, output) in outputs where declared[name] != output.declaration {
            output.close()
            outputs[name] = nil
            // Its subscribers know what it was.
            if let new = declared[name], !new.isInput { store.note(name, store[name] ?? new.initial) }
        }
        for (name, input) in inputs where declared[name]?.binding != .gpio(input.gpio) {
            input.close()
            inputs[name] = nil
        }
        sensors = sensors.filter { declared[$0.key]?.interval == $0.value.interval }
        for (name, declaration) in declared { adopt(name, declaration) }
        // Their sources run already; nobody starts them again.
        for name in watched {
            guard let new = declared[name], new.isInput else { continue }
            watch(name, true, every: new.sensorInterval)
        }
        // Rights and modules may come a moment after the daemon.
        if folderWatch >= 0, !lacks.isEmpty { retryAt = .now + .seconds(2) }
    }

    private func adopt(_ name: String, _ declaration: ValueDeclaration) {
        switch declaration.binding {
        case .gpio(let gpio)? where !gpio.isOutput:
            guard inputs[name] == nil else { return }
            let input = BoundInput(name, gpio, pins)
            inputs[name] = input
            report(input.lack, of: name)
            if let state = try? input.read() { store.take(name, .bool(state)) }
        case .gpio?, .pwm?, .led?:
            guard outputs[name] == nil else { return }
            let value = store[name].flatMap { declaration.fitting($0) } ?? declaration.initial
            let output = BoundOutput(name, declaration, pins, value: value)
            outputs[name] = output
            report(output.lack, of: name)
        case .sensor?, nil: break
        }
    }

    private func report(_ lack: CommandError?, of name: String) {
        if let lack { logger.warning("'\(name)': \(lack.message)") }
    }

    /// Why values are missing, by their names.
    var lacks: [String: CommandError] {
        let all = outputs.mapValues(\.lack).merging(inputs.mapValues(\.lack)) { one, _ in one }
        return all.compactMapValues { $0 }
    }

    // MARK: Calls

    /// - Parameter declaration: what the plan was made for.
    func set(
        _ name: String,
        _ declaration: ValueDeclaration,
        of connection: any CallConnection,
        _ makePlan: (JSONValue) throws(CommandError) -> OutputPlan
    ) throws(CommandError) -> JSONValue {
        guard let output = outputs[name], output.declaration == declaration else {
            throw CommandError(.unavailable, "a reload has just changed '\(name)'; call it again")
        }
        let plan = try makePlan(store[name] ?? .null)
        do throws(CommandError) { try output.begin(plan, of: connection) } catch {
            // What it did has ended: what comes back begins with its default.
            if store[name] != declaration.initial { store.note(name, declaration.initial, lasts: false) }
            throw error
        }
        store.note(name, plan.first, lasts: plan.later.isEmpty)
        return plan.first
    }

    func read(_ name: String) throws(CommandError) -> JSONValue {
        guard let input = inputs[name] else {
            throw CommandError(.unavailable, "the value '\(name)' no longer exists; a reload removed it")
        }
        let value = JSONValue.bool(try input.read())
        store.take(name, value)
        return value
    }

    /// A connection has ended: what it has leased returns to its default.
    func connectionEnded(_ connection: ObjectIdentifier) {
        for output in outputs.values where output.lease?.holder == connection {
            output.rest()
            store.note(output.name, output.declaration.initial)
            report(output.lack, of: output.name)
        }
    }

    func watch(_ name: String, _ isWatched: Bool, every interval: Duration?) {
        guard isWatched else {
            sensors[name] = nil
            inputs[name]?.watch(false)
            return
        }
        if let interval {
            sensors[name] = SensorWatch(interval: interval, due: .now)
        } else if let input = inputs[name] {
            input.watch(true)
            report(input.lack, of: name)
            // What has happened while nobody listened is no edge.
            if let state = try? input.read() { store.take(name, .bool(state)) }
        }
    }

    /// The daemon ends: every output has its default.
    func end() {
        for output in outputs.values { output.close() }
        for input in inputs.values { input.close() }
    }

    // MARK: The thread

    /// Does what is due, and sleeps until something is.
    func turn(_ waker: Waker) {
        let now = ContinuousClock.now
        for output in outputs.values {
            while let step = output.proceed(now) {
                if let value = step.value { store.note(output.name, value, lasts: step.isLast) }
                if step.isLast { report(output.lack, of: output.name) }
            }
        }
        for (name, sensor) in sensors where sensor.due <= now {
            sensors[name]?.due = now + sensor.interval
            readSensor(name)
        }
        if let time = retryAt, time <= now {
            retryAt = nil
            retry()
        }
        let watched = inputs.values.filter { $0.descriptor >= 0 }
        var entries = watched.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        entries.append(pollfd(fd: hasLines ? folderWatch : -1, events: Int16(POLLIN), revents: 0))
        guard waker.sleep(watching: &entries, until: nextTime) else { return }
        for (input, entry) in zip(watched, entries) where entry.revents != 0 { report(input) }
        if entries.last?.revents ?? 0 != 0 { chipsChanged() }
    }

    /// Whether chips that come and go matter.
    private var hasLines: Bool { !inputs.isEmpty || !outputs.isEmpty }

    private var nextTime: ContinuousClock.Instant? {
        (outputs.values.compactMap(\.due) + sensors.values.map(\.due) + [retryAt].compactMap { $0 }).min()
    }

    /// Tells each edge.
    private func report(_ input: BoundInput) {
        do throws(CommandError) {
            let (states, lost) = try input.edges()
            if lost > 0 { events.reportLoss(of: input.name, count: lost) }
            for state in states { store.note(input.name, .bool(state)) }
        } catch {
            report(error, of: input.name)
        }
    }

    private func chipsChanged() {
        _ = qc_watch_drain(folderWatch)
        // The kernel does not wake who waits for the edges of a chip that goes.
        for input in inputs.values where input.letGo() { report(input.lack, of: input.name) }
        for output in outputs.values where output.letGo() {
            report(output.lack, of: output.name)
            store.note(output.name, output.declaration.initial, lasts: false)
        }
        retry()
        // The rule that gives the chip to the service comes a moment after the chip.
        if !lacks.isEmpty { retryAt = .now + .seconds(2) }
    }

    /// Looks again for what was missing.
    private func retry() {
        for (name, output) in outputs where output.lack != nil {
            output.retry(store[name] ?? output.declaration.initial)
            if output.lack == nil { logger.notice("'\(name)' is there") }
        }
        for (name, input) in inputs where input.isMissing {
            input.retry()
            guard !input.isMissing else { continue }
            logger.notice("'\(name)' is there")
            if let state = try? input.read() { store.note(name, .bool(state)) }
        }
    }
}
