public import JSON
import Synchronization

/// Keeps values over restarts.
public protocol ValueKeeper: Sendable {
    /// The values that were stored when the daemon started.
    var kept: JSONObject { get }

    /// The values have changed and should be stored within a second. Called on any thread; must not block.
    func keep(_ values: @escaping @Sendable () -> JSONObject)
}

/// The values of the device, the events that report their changes, and the last data of declared events.
public final class ValueStore: Sendable {
    private struct Slot {
        var declaration: Declaration
        var value: JSONValue
        /// What is kept, where the value is something else for a while.
        var kept: JSONValue?
        /// When it was read from its hardware.
        var readAt: ContinuousClock.Instant?
    }

    private enum Declaration {
        case value(ValueDeclaration)
        case event(EventDeclaration)

        var isValue: Bool { if case .value = self { true } else { false } }

        /// Whether it is what the hardware is, or does.
        var isBound: Bool {
            switch self {
            case .value(let value): value.binding != nil
            case .event(let event): event.binding != nil
            }
        }

        func isSameSource(as other: EventDeclaration) -> Bool {
            if case .event(let event) = self { event.binding == other.binding } else { false }
        }

        var isInput: Bool { if case .value(let value) = self { value.isInput } else { false } }

        func isSame(as other: ValueDeclaration) -> Bool {
            if case .value(let value) = self { value == other } else { false }
        }

        var keeps: Bool { if case .value(let value) = self { value.keeps } else { false } }

        /// What is stored when this is set or posted. Throws `invalid` if it does not fit.
        /// - Parameter field: where it stands among the parameters.
        func accept(_ new: JSONValue, at field: String) throws(CommandError) -> JSONValue {
            switch self {
            case .value(let value):
                guard let accepted = value.accept(new) else { throw value.parameter.refusal(of: new, at: field) }
                return accepted
            case .event(let event):
                guard let accepted = event.parameter.accept(new) else {
                    throw event.parameter.refusal(of: new, at: field)
                }
                return accepted
            }
        }

        /// Whether a call returns what was given last.
        var shows: Bool { if case .event(let event) = self { event.keepsLast } else { true } }
    }

    private struct State {
        var slots: [ByteName: Slot] = [:]
        /// Stored values that no mapping declares now. They are kept, because a mapping may have been removed by
        /// mistake.
        var undeclared: [ByteName: JSONValue]
        /// The entries of values, events and schedules, for the check that each `post` makes.
        var entries = NameTable<MappingEntry>()
        /// Events that are still to be sent, in the order of the changes, and whether a thread is sending them.
        var news: [Event] = []
        var isTelling = false
    }

    private let state: Mutex<State>
    /// Whether there are any. If there are none, the check in each `post` takes no lock.
    private let hasEntries = Atomic<Bool>(false)
    private let events: EventHub
    private let keeper: (any ValueKeeper)?

    /// - Parameters:
    ///   - events: gets an event at each change.
    ///   - keeper: nil keeps nothing over restarts.
    public init(_ events: EventHub, keeper: (any ValueKeeper)? = nil) {
        self.events = events
        self.keeper = keeper
        let kept = (keeper?.kept ?? [:]).map { (ByteName($0.name), $0.value) }
        state = Mutex(State(undeclared: Dictionary(kept) { _, last in last }))
    }

    /// Takes the values and events that a new table declares. An existing value stays if it fits its declaration; a new one gets
    /// its stored value, or its default. Stored values that are no longer declared are kept.
    /// - Returns: a message for each stored value that does not fit.
    public func adopt(_ table: MappingTable) -> [String] {
        var warnings: [String] = []
        let declared = table.entries.compactMap { entry in entry.value.map { (entry.command, $0) } }
        state.withLock { state in
            var slots: [ByteName: Slot] = [:]
            for (name, declaration) in declared {
                let kept = state.undeclared.removeValue(forKey: ByteName(name))
                let slot = state.slots[ByteName(name)].flatMap { $0.declaration.isValue ? $0 : nil }
                if let slot, declaration.binding != nil, slot.declaration.isSame(as: declaration) {
                    slots[ByteName(name)] = slot
                    continue
                }
                // Hardware whose declaration has changed begins anew.
                let isPlain = declaration.binding == nil && !(slot?.declaration.isBound ?? false)
                let last = slot.map { $0.kept ?? $0.value }
                let old = (isPlain || declaration.keeps ? last : nil) ?? (declaration.keeps ? kept : nil)
                let fitting = old.flatMap { $0 == declaration.initial ? $0 : declaration.fitting($0) }
                if let old, fitting == nil {
                    warnings.append(
                        """
                        the value '\(name)' was \(old.text.shortened), which is not \(declaration.parameter.expectation); \
                        it becomes its default
                        """
                    )
                }
                // What is read from hardware is not known yet.
                let value = fitting ?? (declaration.isInput ? .null : declaration.initial)
                slots[ByteName(name)] = Slot(declaration: .value(declaration), value: value)
            }
            for entry in table.entries {
                guard let event = entry.event else { continue }
                // What another reader has read is none of this one.
                let slot = state.slots[ByteName(entry.command)].flatMap {
                    $0.declaration.isSameSource(as: event) ? $0 : nil
                }
                let last = event.keepsLast ? slot?.value : nil
                let fitting = last.flatMap { event.parameter.accept($0) }
                slots[ByteName(entry.command)] = Slot(declaration: .event(event), value: fitting ?? .null)
            }
            for (name, slot) in state.slots where slot.declaration.keeps && slots[name] == nil {
                state.undeclared[name] = slot.kept ?? slot.value
            }
            state.slots = slots
            let entries = table.entries.filter { $0.kind != .stack }
            state.entries = NameTable(entries.map { (name: $0.command, element: $0) })
            hasEntries.store(!entries.isEmpty, ordering: .releasing)
        }
        return warnings
    }

    /// A value, or the last data of an event; nil if none is declared with that name.
    public subscript(name: String) -> JSONValue? { state.withLock { $0.slots[ByteName(name)]?.value } }

    /// The entry of the value, event or schedule with that name; nil if none is declared. Of these only an event can be
    /// posted.
    public func entry(of name: UnsafeBufferPointer<UInt8>) -> MappingEntry? {
        hasEntries.load(ordering: .acquiring) ? find(name) : nil
    }

    private func find(_ name: UnsafeBufferPointer<UInt8>) -> MappingEntry? {
        state.withLock { state in state.entries.index(of: name).map { state.entries.elements[$0] } }
    }

    /// Sets a value, or tells an event, notifies its subscribers, and returns the new value. Throws `invalid` if it does not
    /// fit, and `unavailable` if a reload has removed it.
    /// - Parameter field: where the value stands among the parameters, for the error.
    @discardableResult
    public func set(_ name: String, to value: JSONValue, field: String = "/0") throws(CommandError) -> JSONValue {
        try change(name) { declaration, _ throws(CommandError) in
            try declaration.accept(value, at: field)
        }
    }

    /// Adds to a number in one step, so that no other change comes between reading and setting it. Otherwise like
    /// ``set(_:to:field:)``.
    public func add(_ amount: JSONValue, to name: String, field: String) throws(CommandError) -> JSONValue {
        try change(name) { declaration, value throws(CommandError) in
            guard case .value(let counted) = declaration else {
                throw .invalid(field, expected: "no number", got: amount.gist)
            }
            return try counted.adding(amount, to: value, field: field)
        }
    }

    private func change(
        _ name: String,
        _ make: (Declaration, JSONValue) throws(CommandError) -> JSONValue
    ) throws(CommandError) -> JSONValue {
        let change = state.withLock { state -> Result<(JSONValue, keeps: Bool), CommandError> in
            guard let slot = state.slots[ByteName(name)] else {
                return .failure(CommandError(.unavailable, "the value '\(name)' no longer exists; a reload removed it"))
            }
            let (declaration, accepted): (Declaration, JSONValue)
            do throws(CommandError) {
                (declaration, accepted) = (slot.declaration, try make(slot.declaration, slot.value))
            } catch { return .failure(error) }
            if declaration.shows { state.slots[ByteName(name)]?.value = accepted }
            state.news.append(Event(name, accepted, kind: .message))
            return .success((accepted, declaration.keeps))
        }
        let (accepted, keeps) = try change.get()
        reportNews()
        if keeps { keeper?.keep { [weak self] in self?.keptValues ?? [:] } }
        return accepted
    }

    /// Takes what a value that is bound to hardware is now, or what has happened there, and notifies its subscribers.
    /// - Parameters:
    ///   - kind: a sensor's numbers may replace each other, where somebody reads slowly.
    ///   - lasts: whether it is kept over restarts, if the value is.
    package func note(_ name: String, _ value: JSONValue, kind: Event.Kind = .message, lasts: Bool = true) {
        let keeps = state.withLock { state -> Bool in
            guard var slot = state.slots[ByteName(name)], slot.declaration.isBound else { return false }
            if slot.declaration.isValue { slot.kept = lasts ? JSONValue?.none : slot.kept ?? slot.value }
            if slot.declaration.shows { (slot.value, slot.readAt) = (value, .now) }
            state.slots[ByteName(name)] = slot
            state.news.append(Event(name, value, kind: kind))
            return lasts && slot.declaration.keeps
        }
        reportNews()
        if keeps { keeper?.keep { [weak self] in self?.keptValues ?? [:] } }
    }

    /// Takes what a bound value is, without telling anybody: it was only read.
    package func take(_ name: String, _ value: JSONValue) {
        state.withLock { state in
            guard let declaration = state.slots[ByteName(name)]?.declaration, declaration.isBound, declaration.shows
            else { return }
            state.slots[ByteName(name)]?.value = value
            state.slots[ByteName(name)]?.readAt = .now
        }
    }

    /// Sends the events in the order of the changes, whichever threads made them, without holding the lock.
    private func reportNews() {
        while true {
            let news = state.withLock { state -> [Event] in
                guard !state.isTelling else { return [] }
                defer { state.news = [] }
                state.isTelling = !state.news.isEmpty
                return state.news
            }
            guard !news.isEmpty else { return }
            for event in news { events.publish(event) }
            state.withLock { $0.isTelling = false }
        }
    }

    /// How many values there are.
    public var count: Int { state.withLock { $0.slots.count { $0.value.declaration.isValue } } }

    /// All values, by name.
    public var all: [(name: String, value: JSONValue)] {
        state.withLock { state in
            state.slots.filter(\.value.declaration.isValue).map { ($0.key.text, $0.value.value) }
        }.sorted { $0.name < $1.name }
    }

    /// How long ago what is only read was read last, by name.
    package var ages: [String: Duration] {
        let now = ContinuousClock.now
        return state.withLock { state in
            let read = state.slots.compactMap { name, slot -> (String, Duration)? in
                guard slot.declaration.isInput, let time = slot.readAt else { return nil }
                return (name.text, time.duration(to: now))
            }
            return Dictionary(read) { first, _ in first }
        }
    }

    /// The names of the declared events and schedules, which can be subscribed to.
    public var eventNames: [String] {
        state.withLock { $0.entries.elements.filter { $0.value == nil }.map(\.command) }
    }

    private var keptValues: JSONObject {
        state.withLock { state in
            let declared = state.slots.filter { $0.value.declaration.keeps }.mapValues { $0.kept ?? $0.value }
            let all = declared.merging(state.undeclared) { value, _ in value }
            return JSONObject(all.map { ($0.key.text, $0.value) }.sorted { $0.0 < $1.0 })
        }
    }
}

/// A value as a command: without a parameter it returns the value, with one it sets it, with the option `add` it adds to
/// it. And an event, which has none:
/// the data of the last one.
public struct ValueCommandObject: BCO {
    private let name: String
    private let store: ValueStore

    /// The command object of a value.
    public init(_ name: String, _ store: ValueStore) {
        self.name = name
        self.store = store
    }

    /// Returns the value, or sets it and returns the new one; throws `invalid` for what does not fit.
    public func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        if let added = try ValueDeclaration.added(by: call) {
            return .result(try store.add(added.amount, to: name, field: added.field))
        }
        if let value = call[0] { return .result(try store.set(name, to: value)) }
        guard let value = store[name] else {
            throw CommandError(.unavailable, "'\(name)' no longer exists; a reload removed it")
        }
        return .result(value)
    }
}
