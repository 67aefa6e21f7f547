import JSON
import QuickConnect

/// What an output has of the connection whose end returns it to its default, which is told of both ends of it.
final class Lease {
    /// Whose it is.
    let holder: ObjectIdentifier
    private weak var connection: (any CallConnection)?

    init(_ connection: any CallConnection) {
        (holder, self.connection) = (ObjectIdentifier(connection), connection)
        connection.lease(begins: true)
    }

    deinit { connection?.lease(begins: false) }
}

/// An output on its thread: its pin, what it will do by itself, and whose it is.
final class BoundOutput {
    let name: String
    let declaration: ValueDeclaration
    /// Why it cannot be set; nil: it can.
    private(set) var lack: CommandError?
    private(set) var lease: Lease?
    private var pin: (any OutputPin)?
    private let pins: any BoundPins
    private var later: ArraySlice<OutputPlan.Step> = []
    private var isPattern = false
    /// When it does the next step by itself; nil: never.
    private(set) var due: ContinuousClock.Instant?

    /// Takes it, with its first value.
    init(_ name: String, _ declaration: ValueDeclaration, _ pins: any BoundPins, value: JSONValue) {
        (self.name, self.declaration, self.pins) = (name, declaration, pins)
        do throws(CommandError) { try open(value) } catch { lack = error }
    }

    private func open(_ value: JSONValue) throws(CommandError) {
        pin = try pins.openOutput(name, declaration, value: Self.number(value))
        lack = nil
    }

    private static func number(_ value: JSONValue) -> Double {
        value.numberValue ?? (value.boolValue ?? false ? 1 : 0)
    }

    private func write(_ value: JSONValue) throws(CommandError) {
        do throws(CommandError) {
            guard let pin else { return try open(value) }
            try pin.write(Self.number(value))
        } catch {
            // It may have gone, and come back as another one.
            pin?.close()
            (pin, lack) = (nil, error)
            throw error
        }
    }

    /// Lets go of a pin that has gone. What it did has ended then: what comes back begins with its default.
    /// - Returns: whether it has.
    func letGo() -> Bool {
        guard let pin, pin.isGone else { return false }
        pin.close()
        (self.pin, lack) = (nil, .gone(name))
        (later, due, lease) = ([], nil, nil)
        return true
    }

    /// Looks again for what was missing.
    func retry(_ value: JSONValue) {
        guard pin == nil else { return }
        do throws(CommandError) { try open(value) } catch { lack = error }
    }

    /// Begins a plan, in place of what it did.
    /// - Parameter connection: who has set it; only leases remember it.
    func begin(_ plan: OutputPlan, of connection: (any CallConnection)?) throws(CommandError) {
        // Kept until there is a new one: its connection may be the same, and hears of neither then.
        let old = lease
        defer { withExtendedLifetime(old) {} }
        (later, due, lease) = ([], nil, nil)
        try write(plan.first)
        (later, isPattern) = (plan.later[...], plan.isPattern)
        due = later.first.map { .now + $0.after }
        if plan.isLeased(declaration) { lease = connection.map { Lease($0) } }
    }

    /// Does what is due.
    /// - Returns: what subscribers are told, if anything, and whether it has its default now; nil if nothing was due.
    func proceed(_ now: ContinuousClock.Instant) -> (value: JSONValue?, isLast: Bool)? {
        guard let time = due, time <= now else { return nil }
        guard let step = later.popFirst() else {
            // Once more, what could not be written before.
            rest()
            return (nil, true)
        }
        // From when it should have been: a pattern does not become longer.
        due = later.first.map { time + $0.after }
        guard later.isEmpty else {
            _ = try? write(step.value)
            return (isPattern ? JSONValue?.none : step.value, false)
        }
        rest()
        return (step.value, true)
    }

    /// Returns it to its default. Until that is written it is tried again each second, unless it is not there any more.
    func rest() {
        (later, due, lease) = ([], nil, nil)
        do throws(CommandError) { try write(declaration.initial) } catch {
            if !error.isMissingPart { due = .now + Self.retryAfter }
        }
    }

    private static let retryAfter = Duration.seconds(1)

    /// Returns it to its default, and gives it back.
    func close() {
        if pin != nil { rest() }
        pin?.close()
        pin = nil
    }
}

/// A line that is read, on its thread.
final class BoundInput {
    let name: String
    let gpio: GPIOBinding
    private(set) var lack: CommandError?
    private var pin: (any InputPin)?
    private let pins: any BoundPins
    /// Whether somebody subscribes.
    private(set) var isWatched = false
    /// Whether it has to be looked for.
    var isMissing: Bool { pin == nil }

    init(_ name: String, _ gpio: GPIOBinding, _ pins: any BoundPins) {
        (self.name, self.gpio, self.pins) = (name, gpio, pins)
        do throws(CommandError) { try open() } catch { lack = error }
    }

    private func open() throws(CommandError) {
        guard pin == nil else { return }
        let pin = try pins.openInput(name, gpio)
        (self.pin, lack) = (pin, nil)
        if isWatched { watch(pin, true) }
    }

    /// A line without edges can be read all the same.
    private func watch(_ pin: any InputPin, _ isWatched: Bool) {
        do throws(CommandError) { try pin.watch(isWatched) } catch { lack = error }
    }

    private func trying<Result>(_ body: (any InputPin) throws(CommandError) -> Result) throws(CommandError) -> Result {
        do throws(CommandError) {
            try open()
            guard let pin else { throw CommandError(.unavailable, "'\(name)' is not open") }
            return try body(pin)
        } catch {
            pin?.close()
            (pin, lack) = (nil, error)
            throw error
        }
    }

    /// Lets go of a pin that has gone.
    /// - Returns: whether it has.
    func letGo() -> Bool {
        guard let pin, pin.isGone else { return false }
        pin.close()
        (self.pin, lack) = (nil, .gone(name))
        return true
    }

    /// Looks again for what was missing.
    func retry() { if pin == nil { _ = try? trying { (_) throws(CommandError) in } } }

    func read() throws(CommandError) -> Bool { try trying { (pin) throws(CommandError) in try pin.read() } }

    func watch(_ isWatched: Bool) {
        guard isWatched != self.isWatched else { return }
        self.isWatched = isWatched
        if let pin { watch(pin, isWatched) }
    }

    /// What poll(2) watches; negative: nothing.
    var descriptor: Int32 { isWatched ? pin?.descriptor ?? -1 : -1 }

    func edges() throws(CommandError) -> (states: [Bool], lost: Int) {
        try trying { (pin) throws(CommandError) in try pin.edges() }
    }

    func close() {
        pin?.close()
        pin = nil
    }
}

extension CommandError {
    fileprivate static func gone(_ name: String) -> CommandError {
        .missingPart("what '\(name)' is bound to has gone")
    }
}
