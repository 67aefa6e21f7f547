public import JSON
import Synchronization

/// Which connection gets which events.
public final class EventHub: Sendable {
    private struct Subscription {
        let client: any CallConnection
        var form: WireForm
        var options: JSONObject
        /// The change that it was last told; see ``EventHub/publish(change:_:named:where:)``.
        var change: Int64?
    }

    /// A device's event, and whether it runs.
    private struct Source {
        let source: any EventSource
        var isRunning = false
        /// Whether a thread is starting or stopping it. That thread checks again when it is done.
        var isChanging = false
    }

    private struct State {
        var sources: [ByteName: Source] = [:]
        var subscriptions: [ByteName: [ObjectIdentifier: Subscription]] = [:]
        /// The events of each client.
        var names: [ObjectIdentifier: Set<ByteName>] = [:]
    }

    private let state = Mutex(State())
    /// How many events have subscribers. If none has, publishing takes no lock.
    private let heard = Atomic<Int>(0)
    private let limit: Atomic<Int>
    /// What the daemon keeps for its peers.
    public let memory: PeerMemory

    /// A hub without subscribers.
    /// - Parameters:
    ///   - limits: has the most subscriptions of one connection.
    ///   - memory: counts subscriptions; nil for a hub of its own.
    public init(limits: Limits, memory: PeerMemory? = nil) {
        limit = Atomic(limits.subscriptionsPerConnection)
        self.memory = memory ?? PeerMemory(limits: limits, ownUID: 0)
    }

    func replaceLimit(_ new: Int) { limit.store(new, ordering: .relaxed) }

    /// Adds a device's event, when the daemon starts.
    public func add(_ source: any EventSource) {
        state.withLock { $0.sources[ByteName(source.name)] = Source(source: source) }
    }

    /// Replaces the events of one kind of sources. Those that stay go on without a gap.
    /// - Parameters:
    ///   - old: the names of those that are there.
    ///   - new: all that shall be there.
    package func replaceSources(_ old: Set<String>, with new: [any EventSource]) {
        let gone = old.subtracting(new.map(\.name))
        let running = state.withLock { state in
            for source in new where state.sources[ByteName(source.name)] == nil {
                state.sources[ByteName(source.name)] = Source(source: source)
            }
            return gone.compactMap { state.sources.removeValue(forKey: ByteName($0)) }.filter(\.isRunning)
        }
        for source in running { source.source.stop() }
        for source in new { settle(ByteName(source.name)) }
    }

    // MARK: Subscriptions

    /// Subscribes a connection to all of the events, or to none if one of them fails. Throws `overloaded` if it has too
    /// many already.
    public func subscribe(
        _ client: any CallConnection,
        to names: [String],
        options: JSONObject,
        form: WireForm
    ) throws(CommandError) {
        for name in names { try check(name, options: options) }
        let caller = client.caller
        let limit = limit.load(ordering: .relaxed)
        let lack = state.withLock { state -> CommandError? in
            guard !client.isClosed else { return nil }
            let old = state.names[ObjectIdentifier(client), default: []]
            let known = old.union(names.map { ByteName($0) })
            guard known.count <= limit else {
                return CommandError(.overloaded, "a connection subscribes to at most \(limit) events")
            }
            guard memory.take(Self.memory(of: known.subtracting(old)), for: caller) else {
                return memory.refusal(of: "no more subscriptions", for: caller)
            }
            state.names[ObjectIdentifier(client)] = known
            for name in names {
                let subscription = Subscription(client: client, form: form, options: options)
                state.subscriptions[ByteName(name), default: [:]][ObjectIdentifier(client)] = subscription
            }
            heard.store(state.subscriptions.count, ordering: .releasing)
            return nil
        }
        if let lack { throw lack }
        for name in names { settle(ByteName(name)) }
    }

    /// About what subscriptions to these events take, in bytes.
    private static func memory(of names: some Sequence<ByteName>) -> Int {
        names.reduce(0) { $0 + 256 + 2 * $1.text.utf8.count }
    }

    /// The options of each subscriber of an event.
    public func options(of name: String) -> [JSONObject] {
        state.withLock { $0.subscriptions[ByteName(name)].map { $0.values.map(\.options) } ?? [] }
    }

    /// The names of the daemon's own events, including those of devices it lacks, and of the first so many events that
    /// somebody has subscribed to.
    public func names(max: Int) -> Set<String> {
        let (devices, heard) = state.withLock {
            ($0.sources.keys.map(\.text), $0.subscriptions.keys.prefix(max).map(\.text))
        }
        return Set(DaemonEvents.names).union(devices).union(heard)
    }

    /// Why nobody can subscribe to an event now; nil if one can.
    public func lack(of name: String) -> CommandError? {
        do throws(CommandError) {
            try check(name, options: [:])
            return nil
        } catch {
            return error
        }
    }

    private func check(_ name: String, options: JSONObject) throws(CommandError) {
        if let source = state.withLock({ $0.sources[ByteName(name)]?.source }) {
            try source.check(options: options)
        } else if DaemonEvents.names.contains(name), !DaemonEvents.own.contains(name) {
            throw CommandError(.unsupported, "this device has no event '\(name)'")
        } else if !options.isEmpty {
            throw CommandError(.invalid, "the event '\(name)' takes no options")
        }
    }

    /// Whether a client subscribes to anything.
    func hasSubscriptions(_ client: any CallConnection) -> Bool {
        state.withLock { !($0.names[ObjectIdentifier(client)]?.isEmpty ?? true) }
    }

    /// Ends a client's subscriptions to some events.
    public func unsubscribe(_ client: any CallConnection, from names: [String]) {
        let left = state.withLock { state in
            names.map { ByteName($0) }.filter { name -> Bool in
                guard state.names[ObjectIdentifier(client)]?.remove(name) != nil else { return false }
                remove(ObjectIdentifier(client), from: name, &state)
                return true
            }
        }
        memory.add(-Self.memory(of: left), for: client.caller)
        for name in left { settle(name) }
    }

    /// Ends all subscriptions of a client.
    public func unsubscribeAll(_ client: any CallConnection) {
        let left = state.withLock { state in
            let left = state.names.removeValue(forKey: ObjectIdentifier(client)) ?? []
            for name in left { remove(ObjectIdentifier(client), from: name, &state) }
            return left
        }
        memory.add(-Self.memory(of: left), for: client.caller)
        for name in left { settle(name) }
    }

    /// Ends the subscriptions of connections that may no longer have them.
    func recheck(_ refusal: (_ event: String, any CallConnection) -> CommandError?) {
        let all = state.withLock { state in
            state.subscriptions.flatMap { name, clients in clients.values.map { (name.text, $0) } }
        }
        for (name, subscription) in all {
            guard let refusal = refusal(name, subscription.client) else { continue }
            unsubscribe(subscription.client, from: [name])
            subscription.client.report(refusal, of: "subscribe", form: subscription.form)
        }
    }

    private func remove(_ client: ObjectIdentifier, from name: ByteName, _ state: inout State) {
        state.subscriptions[name]?[client] = nil
        if state.subscriptions[name]?.isEmpty ?? false { state.subscriptions[name] = nil }
        heard.store(state.subscriptions.count, ordering: .releasing)
    }

    /// Starts or stops an event's source until its state matches its subscribers. A source that keeps running is told
    /// that they changed. The source is called without the lock.
    private func settle(_ name: ByteName) {
        let running = state.withLock { state in
            state.sources[name].flatMap { $0.isRunning && state.subscriptions[name] != nil ? $0.source : nil }
        }
        running?.subscribersChanged()
        while let (source, isWanted) = nextChange(of: name) {
            if isWanted { source.start(publishingTo: self) } else { source.stop() }
            state.withLock { $0.sources[name]?.isChanging = false }
        }
    }

    private func nextChange(of name: ByteName) -> (source: any EventSource, isWanted: Bool)? {
        state.withLock { state in
            let isWanted = state.subscriptions[name] != nil
            guard let source = state.sources[name], !source.isChanging, source.isRunning != isWanted else { return nil }
            state.sources[name]?.isChanging = true
            state.sources[name]?.isRunning = isWanted
            return (source.source, isWanted)
        }
    }

    // MARK: Events

    /// Sends an event to its subscribers, each in the form it subscribed in. Any thread.
    /// - Parameters:
    ///   - event: evaluated only if there are subscribers.
    ///   - isMeant: whether a subscriber with these options gets it.
    public func publish(_ event: @autoclosure () -> Event, where isMeant: (JSONObject) -> Bool = { _ in true }) {
        guard heard.load(ordering: .acquiring) > 0 else { return }
        let event = event()
        let subscriptions = state.withLock { state in
            state.subscriptions[ByteName(event.name)].map { Array($0.values) }
        }
        guard let subscriptions else { return }
        let written = subscriptions.count > 1 ? event.written : event
        for subscription in subscriptions where isMeant(subscription.options) {
            subscription.client.send(written, form: subscription.form)
        }
    }

    /// Tells what is the case to those subscribers that have not been told this change of it yet: newcomers, and those whom
    /// it did not fit before. Any thread.
    /// - Parameters:
    ///   - change: its number, another one for each change.
    ///   - event: evaluated only if there are such subscribers.
    ///   - isMeant: whether a subscriber with these options gets it now.
    package func publish(
        change: Int64,
        _ event: @autoclosure () -> Event,
        named name: String,
        where isMeant: (JSONObject) -> Bool
    ) {
        let name = ByteName(name)
        let told = state.withLock { state -> [Subscription] in
            let told = (state.subscriptions[name] ?? [:]).filter {
                $0.value.change != change && isMeant($0.value.options)
            }
            for client in told.keys { state.subscriptions[name]?[client]?.change = change }
            return Array(told.values)
        }
        guard !told.isEmpty else { return }
        let event = told.count > 1 ? event().written : event()
        for subscription in told { subscription.client.send(event, form: subscription.form) }
    }

    /// Tells the subscribers of an event, those that want to know, how many of it nobody could read.
    package func reportLoss(of name: String, count: Int) {
        let told = state.withLock { state -> [Subscription] in
            guard let losses = state.subscriptions[ByteName(DaemonEvents.dropped)] else { return [] }
            return (state.subscriptions[ByteName(name)] ?? [:]).keys.compactMap { losses[$0] }
        }
        let event = Event(DaemonEvents.dropped, DaemonEvents.loss(of: name, count), kind: .message)
        for subscription in told { subscription.client.send(event, form: subscription.form) }
    }

    /// The form in which a connection subscribed to an event; nil if it did not.
    func form(of client: any CallConnection, for name: String) -> WireForm? {
        state.withLock { $0.subscriptions[ByteName(name)]?[ObjectIdentifier(client)]?.form }
    }

    /// How many subscribers events have: of the first so many, in no particular order, and how many events there are.
    public func subscriberCounts(max: Int) -> (counts: [(event: String, count: Int)], total: Int) {
        state.withLock { state in
            (
                state.subscriptions.prefix(max).map { (event: $0.key.text, count: $0.value.count) },
                state.subscriptions.count
            )
        }
    }

    /// How many subscribers each event has.
    public var subscriberCounts: [(event: String, count: Int)] { subscriberCounts(max: .max).counts }
}
