internal import JSON

extension ClientConversation {
    /// What is kept for as long as the client wants it, and is renewed on each new connection.
    public enum Standing: Sendable, Hashable {
        /// A call of the opening, by its command: `actFor`.
        case opening(String)
        case handler(String)
        case subscription(String)
    }
}

/// What is sent first on each new connection, in this order: the opening, the handlers, the subscriptions, each in the
/// order in which they were first requested.
struct StandingOrders {
    typealias Call = (standing: ClientConversation.Standing, command: String, message: CallMessage)

    var opening: [(command: String, message: CallMessage)] = []
    private var handlers: [(name: String, hearsCancel: Bool)] = []
    private var subscriptions: [(name: String, options: JSONObject?)] = []

    var isEmpty: Bool { opening.isEmpty && handlers.isEmpty && subscriptions.isEmpty }

    func has(handler name: String) -> Bool { handlers.contains { $0.name.isSame(as: name) } }

    /// Whether that handler is told when nobody waits any more for an answer.
    func hearsCancel(handler name: String) -> Bool { handlers.contains { $0.name.isSame(as: name) && $0.hearsCancel } }

    /// Returns whether it is new.
    mutating func add(handler name: String, hearsCancel: Bool) -> Bool {
        guard !has(handler: name) else { return false }
        handlers.append((name, hearsCancel))
        return true
    }

    mutating func remove(handler name: String) -> Bool {
        let count = handlers.count
        handlers.removeAll { $0.name.isSame(as: name) }
        return handlers.count < count
    }

    /// Subscribing again replaces the options.
    mutating func add(subscription name: String, options: JSONObject?) {
        if let index = subscriptions.firstIndex(where: { $0.name.isSame(as: name) }) {
            subscriptions[index].options = options
        } else {
            subscriptions.append((name, options))
        }
    }

    mutating func remove(subscription name: String) -> Bool {
        let count = subscriptions.count
        subscriptions.removeAll { $0.name.isSame(as: name) }
        return subscriptions.count < count
    }

    /// The daemon refuses it.
    mutating func remove(_ standing: ClientConversation.Standing) {
        switch standing {
        case .opening: break
        case .handler(let name): _ = remove(handler: name)
        case .subscription(let name): _ = remove(subscription: name)
        }
    }

    /// Everything, as calls.
    var calls: [Call] {
        opening.map { (.opening($0.command), $0.command, $0.message) } + handlers.map(Self.call)
            + subscriptions.map(Self.call)
    }

    static func call(handler name: String, hearsCancel: Bool) -> Call {
        let parameters: [JSONValue] = [.string(name)] + (hearsCancel ? [["cancel": true]] : [])
        return (.handler(name), "registerHandler", .value(.array(parameters)))
    }

    static func call(subscription name: String, options: JSONObject?) -> Call {
        let parameters: [JSONValue] = [.string(name)] + (options.map { [.object($0)] } ?? [])
        return (.subscription(name), "subscribe", .value(.array(parameters)))
    }
}

extension String {
    /// Names are compared by their bytes; Swift compares strings by canonical equivalence.
    fileprivate func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
