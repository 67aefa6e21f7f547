import CWebKit
import Glibc
internal import JSON
internal import QuickConnectClient

/// The window's own connection to the daemon, on the main loop: its calls, the handlers that it answers, and events. It
/// connects and reconnects by itself; nothing here waits for long.
final class DaemonHost {
    /// Answers a handler's call, once.
    typealias Answer = (Result<HandlerCall.Answer, HandlerCall.Failure>) -> Void

    /// How long the main loop may wait for a daemon to accept.
    private static let patience = Duration.milliseconds(100)
    /// How long to wait before trying again to register a handler's name that another client has.
    private static let pause = Duration.seconds(5)

    private let link: DaemonLink
    private var calls: [CallID: (Result<JSONValue, CallFailure>) -> Void] = [:]
    private var handlers: [String: (HandlerCall, @escaping Answer) -> Void] = [:]
    /// What to do when nobody waits any more for the answer to a call.
    private var abandoned: [HandlerCall.Number: () -> Void] = [:]
    private var listeners: [String: (JSONValue) -> Void] = [:]
    private var input: LoopSource?
    private var output: LoopSource?
    private var timer: LoopSource?
    private var isAdvancing = false
    private var watched: Int32 = -1
    private var refused: Set<String> = []
    var log: (String) -> Void = { _ in }
    /// There is another connection.
    var didConnect: () -> Void = {}
    var isConnected: Bool { link.connection != nil }

    init(paths: [String]) {
        link = DaemonLink(ClientConversation(), paths: paths, patience: Self.patience)
        link.isWanted = true
    }

    func start() { advance() }

    /// Makes a call. The completion is called once: with the reply's value, or with the failure.
    /// - Parameter parameters: an array is the command's parameters, any other value is one, `null` is none.
    func call(
        _ command: String,
        _ parameters: JSONValue = .null,
        timeout: Duration? = nil,
        completion: @escaping (Result<JSONValue, CallFailure>) -> Void = { _ in }
    ) {
        let id = link.conversation.call(command, .value(parameters), before: timeout.map { .now + $0 })
        calls[id] = completion
        advance()
    }

    /// Answers the calls of a handler: the mappings' `script:NAME`. If another client has the name, it tries again
    /// until the name is free.
    func handle(_ name: String, _ body: @escaping (HandlerCall, @escaping Answer) -> Void) {
        handlers[name] = body
        link.conversation.register(handler: name, hearsCancel: true)
        advance()
    }

    /// Runs the body when the caller has gone, has cancelled the call or its time is over, unless it was answered before.
    func whenAbandoned(_ call: HandlerCall, _ body: @escaping () -> Void) { abandoned[call.number] = body }

    /// Passes an event to the listener until ``unsubscribe(from:)``. Each name has one listener.
    func subscribe(to name: String, options: JSONObject? = nil, _ listener: @escaping (JSONValue) -> Void) {
        listeners[name] = listener
        link.conversation.subscribe(to: name, options: options)
        advance()
    }

    func unsubscribe(from name: String) {
        listeners[name] = nil
        link.conversation.unsubscribe(from: name)
        advance()
    }

    func close() {
        timer?.cancel()
        input?.cancel()
        output?.cancel()
        link.close()
    }

    // MARK: The main loop

    private func advance() {
        guard !isAdvancing else { return }
        isAdvancing = true
        repeat {
            // It keeps trying if no daemon answers.
            _ = try? link.advance()
            handleEvents()
        } while link.conversation.hasEvents
        isAdvancing = false
        watch()
    }

    private func watch() {
        let descriptor = link.connection?.descriptor ?? -1
        if descriptor != watched {
            input?.cancel()
            output?.cancel()
            (input, output) = (nil, nil)
            watched = descriptor
            if descriptor >= 0 { didConnect() }
        }
        if descriptor >= 0, input == nil {
            let events = GIOCondition(rawValue: G_IO_IN.rawValue | G_IO_HUP.rawValue | G_IO_ERR.rawValue)
            input = LoopSource.watch(descriptor, events) { [weak self] in
                self?.receive()
                return self?.input != nil
            }
        }
        if descriptor >= 0, output == nil, link.events.events & Int16(POLLOUT) != 0 {
            output = LoopSource.watch(descriptor, G_IO_OUT) { [weak self] in
                self?.output = nil
                self?.advance()
                return false
            }
        }
        timer?.cancel()
        timer = link.nextMoment.map { moment in
            LoopSource.after(max(.milliseconds(1), moment - .now)) { [weak self] in self?.advance() }
        }
    }

    private func receive() {
        link.receive()
        handleEvents()
        advance()
    }

    // MARK: Events

    private func handleEvents() {
        for event in link.conversation.takeEvents() {
            switch event {
            case .replied(let id, _, let value): calls.removeValue(forKey: id)?(.success(value))
            case .failed(let id, let failure): calls.removeValue(forKey: id)?(.failure(failure))
            case .happened(let name, let value): listeners[name]?(value)
            case .called(let call): pass(call)
            case .cancelled(let number): abandoned.removeValue(forKey: number)?()
            case .refused(.handler(let name), let failure): retry(name, failure)
            case .refused(.subscription(let name), let failure): log("no events of \(name): \(failure.message)")
            case .fault(.told(let error)): log(error.message)
            default: break
            }
        }
    }

    private func pass(_ call: HandlerCall) {
        handlers[call.handler]?(call) { [weak self] outcome in
            self?.abandoned[call.number] = nil
            self?.link.conversation.answer(call, with: outcome)
            self?.advance()
        }
    }

    private func retry(_ name: String, _ failure: CallFailure) {
        if refused.insert(name).inserted {
            log("the daemon does not let this window answer \(name), and is asked again: \(failure.message)")
        }
        LoopSource.after(Self.pause) { [weak self] in
            guard let self, handlers[name] != nil else { return }
            link.conversation.register(handler: name, hearsCancel: true)
            advance()
        }
    }
}
