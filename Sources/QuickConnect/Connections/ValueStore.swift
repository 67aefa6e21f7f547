public import JSON
import Synchronization

/// Keeps values over restarts.
public protocol ValueKeeper: Sendable {
    /// Those that were kept when the daemon started.
    var kept: JSONObject { get }

    /// They have changed: to be kept within a second. Any thread; must not block.
    func keep(_ values: @escaping @Sendable () -> JSONObject)
}

/// The values of the device, and the events that tell of them.
public final class ValueStore: Sendable {
    private struct Slot {
        var declaration: ValueDeclaration
        var value: JSONValue
    }

    private struct State {
        var slots: [ByteName: Slot] = [:]
        /// What is kept of values that no mapping declares now. They may come back, for a mapping may be taken out by a slip.
        var undeclared: [ByteName: JSONValue]
        /// Their names, for whoever asks with each post.
        var names = NameTable<Bool>()
        /// What is to be told, in the order it was set; and whether some thread is telling.
        var news: [Event] = []
        var isTelling = false
    }

    private let state: Mutex<State>
    /// Whether there are values at all: who asks with each post needs no lock where there are none.
    private let areThere = Atomic<Bool>(false)
    private let events: EventHub
    private let keeper: (any ValueKeeper)?

    /// - Parameters:
    ///   - events: gets an event at each set.
    ///   - keeper: nil keeps nothing over restarts.
    public init(_ events: EventHub, keeper: (any ValueKeeper)? = nil) {
        self.events = events
        self.keeper = keeper
        let kept = (keeper?.kept ?? [:]).map { (ByteName($0.name), $0.value) }
        state = Mutex(State(undeclared: Dictionary(kept) { _, last in last }))
    }

    /// Takes the values of a new table. One that was there stays as it is where that fits its declaration; one that is new
    /// is what was kept of it, else its default. What is kept of one that is not there any more stays kept.
    /// - Returns: what was kept and does not fit, in words.
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
            areThere.store(!declared.isEmpty, ordering: .releasing)
        }
        return warnings
    }

    /// What a value is; nil where there is none of that name.
    public subscript(name: String) -> JSONValue? { state.withLock { $0.slots[ByteName(name)]?.value } }

    /// Whether there is a value of that name, whose events nobody else posts.
    public func contains(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        areThere.load(ordering: .acquiring) && isOne(name)
    }

    private func isOne(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        state.withLock { $0.names.index(of: name) != nil }
    }

    /// Sets a value, tells its subscribers, and answers what it became. `invalid` where it does not fit; `unavailable` where
    /// a reload has taken it away.
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

    /// Events go out in the order of the sets, whichever threads they are on, and without the lock.
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

/// A value as a command: without a parameter it answers what the value is, with one it sets it.
public struct ValueCommandObject: BCO {
    private let name: String
    private let store: ValueStore

    /// The command object of a value.
    public init(_ name: String, _ store: ValueStore) {
        self.name = name
        self.store = store
    }

    /// Answers the value, or sets it and answers what it became; `invalid` for what does not fit.
    public func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        if let value = call[0] { return .result(try store.set(name, to: value)) }
        guard let value = store[name] else {
            throw CommandError(.unavailable, "the value '\(name)' no longer exists; a reload removed it")
        }
        return .result(value)
    }
}
