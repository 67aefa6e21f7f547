public import JSON
import Synchronization

/// Keeps values over restarts.
public protocol ValueKeeper: Sendable {
    /// The values that were stored when the daemon started.
    var kept: JSONObject { get }

    /// The values have changed and should be stored within a second. Called on any thread; must not block.
    func keep(_ values: @escaping @Sendable () -> JSONObject)
}

/// The values of the device, and the events that report their changes.
public final class ValueStore: Sendable {
    private struct Slot {
        var declaration: ValueDeclaration
        var value: JSONValue
    }

    private struct State {
        var slots: [ByteName: Slot] = [:]
        /// Stored values that no mapping declares now. They are kept, because a mapping may have been removed by
        /// mistake.
        var undeclared: [ByteName: JSONValue]
        /// Their names, for the check that each `post` makes.
        var names = NameTable<Bool>()
        /// Events that are still to be sent, in the order of the changes, and whether a thread is sending them.
        var news: [Event] = []
        var isTelling = false
    }

    private let state: Mutex<State>
    /// Whether there are any values. If there are none, the check in each `post` takes no lock.
    private let hasValues = Atomic<Bool>(false)
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

    /// Takes the values that a new table declares. An existing value stays if it fits its declaration; a new one gets
    /// its stored value, or its default. Stored values that are no longer declared are kept.
    /// - Returns: a message for each stored value that does not fit.
    public func adopt(_ table: MappingTable) -> [String] {
        var warnings: [String] = []
        let declared = table.entries.compactMap { entry in entry.value.map { (entry.command, $0) } }
        state.withLock { state in
            var slots: [ByteName: Slot] = [:]
            for (name, declaration) in declared {
                let kept = state.undeclared.removeValue(forKey: ByteName(name))
                let old = state.slots[ByteName(name)]?.value ?? (declaration.keeps ? kept : nil)
                let fitting = old.flatMap { $0 == declaration.initial ? $0 : declaration.fitting($0) }
                if let old, fitting == nil {
                    warnings.append(
                        """
                        the value '\(name)' was \(old.text.shortened), which is not \(declaration.parameter.expectation); \
                        it becomes its default
                        """
                    )
                }
                slots[ByteName(name)] = Slot(declaration: declaration, value: fitting ?? declaration.initial)
            }
            for (name, slot) in state.slots where slot.declaration.keeps && slots[name] == nil {
                state.undeclared[name] = slot.value
            }
            state.slots = slots
            state.names = NameTable(declared.map { (name: $0.0, element: true) })
            hasValues.store(!declared.isEmpty, ordering: .releasing)
        }
        return warnings
    }

    /// A value; nil if there is none with that name.
    public subscript(name: String) -> JSONValue? { state.withLock { $0.slots[ByteName(name)]?.value } }

    /// Whether there is a value with that name. Nobody else may post its events.
    public func contains(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        hasValues.load(ordering: .acquiring) && isOne(name)
    }

    private func isOne(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        state.withLock { $0.names.index(of: name) != nil }
    }

    /// Sets a value, notifies its subscribers, and returns the new value. Throws `invalid` if it does not fit, and
    /// `unavailable` if a reload has removed it.
    func set(_ name: String, to value: JSONValue) throws(CommandError) -> JSONValue {
        let change = state.withLock { state -> Result<(JSONValue, keeps: Bool), CommandError> in
            guard let declaration = state.slots[ByteName(name)]?.declaration else {
                return .failure(CommandError(.unavailable, "the value '\(name)' no longer exists; a reload removed it"))
            }
            guard let accepted = declaration.accept(value) else {
                let expected = "value, \(declaration.parameter.expectation)"
                return .failure(.invalid("/0", expected: expected, got: value.gist))
            }
            state.slots[ByteName(name)]?.value = accepted
            state.news.append(Event(name, accepted, kind: .message))
            return .success((accepted, declaration.keeps))
        }
        let (accepted, keeps) = try change.get()
        tellNews()
        if keeps { keeper?.keep { [weak self] in self?.keptValues ?? [:] } }
        return accepted
    }

    /// Sends the events in the order of the changes, whichever threads made them, without holding the lock.
    private func tellNews() {
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

    /// How many there are.
    public var count: Int { state.withLock { $0.slots.count } }

    /// All values, by name.
    public var all: [(name: String, value: JSONValue)] {
        state.withLock { $0.slots.map { ($0.key.text, $0.value.value) } }.sorted { $0.name < $1.name }
    }

    private var keptValues: JSONObject {
        state.withLock { state in
            let declared = state.slots.filter { $0.value.declaration.keeps }.mapValues(\.value)
            let all = declared.merging(state.undeclared) { value, _ in value }
            return JSONObject(all.map { ($0.key.text, $0.value) }.sorted { $0.0 < $1.0 })
        }
    }
}

/// A value as a command: without a parameter it returns the value, with one it sets it.
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
        if let value = call[0] { return .result(try store.set(name, to: value)) }
        guard let value = store[name] else {
            throw CommandError(.unavailable, "the value '\(name)' no longer exists; a reload removed it")
        }
        return .result(value)
    }
}
