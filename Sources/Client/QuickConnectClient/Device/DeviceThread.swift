internal import Concurrency
internal import Glibc
internal import JSON
internal import Linux
internal import QuickConnect
internal import Synchronization

/// The thread of a device: it alone uses the conversation and the socket, and carries out its orders one by one.
final class DeviceThread: Sendable {
    typealias Answer = Result<(command: String, value: JSONValue), CallFailure>
    typealias Promise = Deferred<Answer, Interruption>

    enum Order: Sendable {
        case call(String, CallMessage, ContinuousClock.Instant?, Promise)
        case cancel(Promise)
        case subscribe(String, JSONObject?, Mailbox<JSONValue>)
        /// Subscribes to a value, and reads it now and over each new connection.
        case watch(String, Mailbox<JSONValue>)
        case unsubscribe(String, Mailbox<JSONValue>)
        case handle(String, hearsCancel: Bool, Mailbox<HandlerTask>)
        case unhandle(String, Mailbox<HandlerTask>)
        case answer(HandlerCall, Result<HandlerCall.Answer, HandlerCall.Failure>)
        case close(Deferred<Void, Interruption>?)
    }

    private struct Orders {
        var waiting: [Order] = []
        /// Why no further orders are accepted.
        var end: CallFailure?
        /// Why there is no connection.
        var problem: String?
    }

    private let orders = Mutex(Orders())
    private let waker: Waker?

    init(paths: [String], _ bounds: ClientConversation.Bounds, _ warn: @escaping @Sendable (String) -> Void) {
        waker = try? Waker()
        guard let waker else {
            end("no sockets are left for its thread")
            return
        }
        // The thread holds a reference to this object as long as it runs.
        let code = PThread.start("quickconnect") { DeviceLoop(paths: paths, bounds, warn).run(self, waker) }
        if code != 0 { end("no thread can be started: \(SystemCallError.text(code))") }
    }

    /// Gives an order. Called on any thread; never waits.
    func order(_ order: Order) {
        let end = orders.withLock { orders in
            if orders.end == nil { orders.waiting.append(order) }
            return orders.end
        }
        if let end { return Self.refuse(order, end) }
        waker?.wake()
    }

    func takeOrders() -> [Order] {
        orders.withLock { orders in
            defer { orders.waiting = [] }
            return orders.waiting
        }
    }

    var problem: String? {
        get { orders.withLock { $0.problem } }
        set { orders.withLock { $0.problem = newValue } }
    }

    /// Stops accepting orders; those that wait are refused.
    func end(_ reason: String) {
        let failure = CallFailure.connectionLost(reason)
        let left = orders.withLock { orders in
            orders.end = failure
            orders.problem = reason
            defer { orders.waiting = [] }
            return orders.waiting
        }
        for order in left { Self.refuse(order, failure) }
    }

    private static func refuse(_ order: Order, _ failure: CallFailure) {
        switch order {
        case .call(_, _, _, let promise): promise.fulfil(.failure(failure))
        case .subscribe(_, _, let mailbox), .watch(_, let mailbox): mailbox.finish(failure)
        case .handle(_, _, let mailbox): mailbox.finish(failure)
        case .close(let promise): promise?.fulfil(())
        case .cancel, .unsubscribe, .unhandle, .answer: break
        }
    }
}

/// The loop that the thread of a device runs.
final class DeviceLoop {
    private let link: DaemonLink
    private let warn: (String) -> Void
    private var promises: [CallID: DeviceThread.Promise] = [:]
    private var calls: [ObjectIdentifier: CallID] = [:]
    private var listeners: [String: [Mailbox<JSONValue>]] = [:]
    /// Those of the listeners that also get what the value is, and the calls that read it.
    private var watchers: [String: [Mailbox<JSONValue>]] = [:]
    private var reads: [CallID: String] = [:]
    private var handlers: [String: Mailbox<HandlerTask>] = [:]
    /// Tells the code that answers a call that the caller no longer waits.
    private var cancellations: [HandlerCall.Number: HandlerTask.Cancellation] = [:]
    private var hearingCancel: Set<String> = []
    private var isClosed = false
    /// The daemon's error before it closed a connection.
    private var refusal: String?
    private var closers: [Deferred<Void, Interruption>] = []
    /// How long to wait for a daemon to accept; orders wait meanwhile.
    private static let timeout = Duration.milliseconds(100)
    private static let farewell = "the device was closed"

    init(paths: [String], _ bounds: ClientConversation.Bounds, _ warn: @escaping (String) -> Void) {
        self.warn = warn
        link = DaemonLink(ClientConversation(bounds: bounds), paths: paths, patience: Self.timeout)
        link.isWanted = true
    }

    func run(_ thread: DeviceThread, _ waker: Waker) {
        while true {
            for order in thread.takeOrders() { obey(order) }
            if isClosed {
                // Sends answers that were given before it was closed.
                if link.conversation.isConnected { _ = try? link.advance() }
                break
            }
            // It keeps trying if no daemon answers.
            _ = try? link.advance()
            handleEvents()
            thread.problem = problem
            _ = waker.sleep(watching: link.events, until: link.nextMoment)
            link.receive()
            handleEvents()
        }
        link.close()
        handleEvents()
        for mailbox in listeners.values.joined() { mailbox.finish() }
        for mailbox in handlers.values { mailbox.finish() }
        thread.end(Self.farewell)
        for closer in closers { closer.fulfil(()) }
    }

    private var problem: String? {
        guard let problem = link.problem else { return nil }
        return refusal.map { "\(problem): \($0)" } ?? problem
    }

    // MARK: Orders

    private func obey(_ order: DeviceThread.Order) {
        switch order {
        case .call(let command, let message, let deadline, let promise):
            guard !promise.isSettled else { return }
            let id = link.conversation.call(command, message, before: deadline)
            promises[id] = promise
            calls[ObjectIdentifier(promise)] = id
        case .cancel(let promise):
            if let id = calls[ObjectIdentifier(promise)] { link.conversation.cancel(id) }
        case .subscribe(let name, let options, let mailbox): subscribe(name, options, mailbox)
        case .watch(let name, let mailbox):
            watchers[name, default: []].append(mailbox)
            subscribe(name, ["value": true], mailbox)
        case .unsubscribe(let name, let mailbox): unsubscribe(name, mailbox)
        case .handle(let name, let hearsCancel, let mailbox): handle(name, hearsCancel: hearsCancel, mailbox)
        case .unhandle(let name, let mailbox): unhandle(name, mailbox)
        case .answer(let call, let outcome):
            cancellations[call.number] = nil
            link.conversation.answer(call, with: outcome)
        case .close(let promise):
            isClosed = true
            if let promise { closers.append(promise) }
        }
    }

    private func subscribe(_ name: String, _ options: JSONObject?, _ mailbox: Mailbox<JSONValue>) {
        listeners[name, default: []].append(mailbox)
        link.conversation.subscribe(to: name, options: options)
    }

    private func unsubscribe(_ name: String, _ mailbox: Mailbox<JSONValue>) {
        mailbox.finish()
        watchers[name]?.removeAll { $0 === mailbox }
        guard var others = listeners[name] else { return }
        others.removeAll { $0 === mailbox }
        listeners[name] = others.isEmpty ? nil : others
        if others.isEmpty { link.conversation.unsubscribe(from: name) }
    }

    private func handle(_ name: String, hearsCancel: Bool, _ mailbox: Mailbox<HandlerTask>) {
        guard handlers[name] == nil else {
            let error: JSONValue = ["code": "busy", "message": .string("this device has a handler \(name) already")]
            return mailbox.finish(.refused(ErrorReply(error)))
        }
        handlers[name] = mailbox
        if hearsCancel { hearingCancel.insert(name) } else { hearingCancel.remove(name) }
        link.conversation.register(handler: name, hearsCancel: hearsCancel)
    }

    private func unhandle(_ name: String, _ mailbox: Mailbox<HandlerTask>) {
        mailbox.finish()
        let failure = HandlerCall.Failure(.unavailable, "the handler \(name) has been removed")
        for task in mailbox.takeAll() {
            cancellations[task.call.number] = nil
            link.conversation.answer(task.call, with: .failure(failure))
        }
        guard handlers[name] === mailbox else { return }
        handlers[name] = nil
        link.conversation.remove(handler: name)
    }

    // MARK: Events

    private func handleEvents() {
        for warning in link.conversation.takeWarnings() { warn(warning) }
        for event in link.conversation.takeEvents() {
            switch event {
            case .replied(let id, let command, let value):
                if !takeRead(id, .success(value)) { settle(id, .success((command, value))) }
            case .failed(let id, let failure): if !takeRead(id, .failure(failure)) { settle(id, .failure(failure)) }
            case .happened(let name, let value): for mailbox in listeners[name] ?? [] { mailbox.put(value) }
            case .called(let call): pass(call)
            case .cancelled(let number): cancellations.removeValue(forKey: number)?.fulfil(())
            case .stands(.subscription(let name)): subscribed(name)
            case .refused(let standing, let failure): refuse(standing, failure)
            case .fault(.told(let error)):
                // With a command, a reload has taken something away; without one, the daemon is about to close.
                if error.members["cmd"] == nil { refusal = error.message } else { warn(error.message) }
            case .fault(.unreadable(let problem)): refusal = problem
            case .stands: break
            }
        }
    }

    private func subscribed(_ name: String) {
        for mailbox in listeners[name] ?? [] { mailbox.markReady() }
        if watchers[name]?.isEmpty == false { reads[link.conversation.call(name)] = name }
    }

    /// Returns whether the call has read a value.
    private func takeRead(_ id: CallID, _ result: Result<JSONValue, CallFailure>) -> Bool {
        guard let name = reads.removeValue(forKey: id) else { return false }
        for mailbox in watchers[name] ?? [] {
            switch result {
            case .success(let value): mailbox.put(value)
            case .failure(.connectionLost): break  // The next connection reads it.
            case .failure(let failure): mailbox.finish(failure)
            }
        }
        return true
    }

    private func settle(_ id: CallID, _ answer: DeviceThread.Answer) {
        if case .success = answer { refusal = nil }
        guard let promise = promises.removeValue(forKey: id) else { return }
        calls[ObjectIdentifier(promise)] = nil
        promise.fulfil(answer)
    }

    private func pass(_ call: HandlerCall) {
        guard let mailbox = handlers[call.handler], !mailbox.isFull else {
            let failure = HandlerCall.Failure(.overloaded, "too many calls wait for the handler \(call.handler)")
            link.conversation.answer(call, with: .failure(failure))
            return
        }
        let cancellation = hearingCancel.contains(call.handler) ? HandlerTask.Cancellation() : nil
        cancellations[call.number] = cancellation
        mailbox.put(HandlerTask(call: call, cancellation: cancellation))
    }

    private func refuse(_ standing: ClientConversation.Standing, _ failure: CallFailure) {
        switch standing {
        case .opening: break
        case .handler(let name): handlers.removeValue(forKey: name)?.finish(failure)
        case .subscription(let name):
            watchers[name] = nil
            for mailbox in listeners.removeValue(forKey: name) ?? [] { mailbox.finish(failure) }
        }
    }
}
