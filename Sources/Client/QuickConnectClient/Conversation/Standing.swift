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
    private var handlers: [Handler] = []
    private var subscriptions: [Subscription] = []

    private struct Handler {
        var name: String
        var hearsCancel: Bool
        /// The connection over which the daemon accepted it last.
        var acceptedOver = 0

        var call: Call { StandingOrders.call(handler: name, hearsCancel: hearsCancel) }
    }

    private struct Subscription {
        var name: String
        var options: JSONObject?
        var acceptedOver = 0

        var call: Call { StandingOrders.call(subscription: name, options: options) }
    }

    var isEmpty: Bool { opening.isEmpty && handlers.isEmpty && subscriptions.isEmpty }

    func has(handler name: String) -> Bool { index(ofHandler: name) != nil }

    /// Whether that handler is told when nobody waits any more for an answer.
    func hearsCancel(handler name: String) -> Bool { handlers.contains { $0.name.isSame(as: name) && $0.hearsCancel } }

    /// Returns whether it is new.
    mutating func add(handler name: String, hearsCancel: Bool) -> Bool {
        guard !has(handler: name) else { return false }
        handlers.append(Handler(name: name, hearsCancel: hearsCancel))
        return true
    }

    mutating func remove(handler name: String) -> Bool {
        let count = handlers.count
        handlers.removeAll { $0.name.isSame(as: name) }
        return handlers.count < count
    }

    /// Subscribing again replaces the options.
    mutating func add(subscription name: String, options: JSONObject?) {
        if let index = index(ofSubscription: name) {
            subscriptions[index].options = options
        } else {
            subscriptions.append(Subscription(name: name, options: options))
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

    /// The daemon has accepted it over that connection.
    mutating func accept(_ standing: ClientConversation.Standing, over connection: Int) {
        switch standing {
        case .opening: break
        case .handler(let name):
            if let index = index(ofHandler: name) { handlers[index].acceptedOver = connection }
        case .subscription(let name):
            if let index = index(ofSubscription: name) { subscriptions[index].acceptedOver = connection }
        }
    }

    /// Whether it stood over an earlier connection, and has not been accepted over this one.
    func isRenewed(_ standing: ClientConversation.Standing, over connection: Int) -> Bool {
        let accepted =
            switch standing {
            case .opening: 0
            case .handler(let name): index(ofHandler: name).map { handlers[$0].acceptedOver } ?? 0
            case .subscription(let name): index(ofSubscription: name).map { subscriptions[$0].acceptedOver } ?? 0
            }
        return accepted > 0 && accepted < connection
    }

    /// Everything, as calls.
    var calls: [Call] {
        opening.map { (.opening($0.command), $0.command, $0.message) } + handlers.map(\.call)
            + subscriptions.map(\.call)
    }

    /// What says it again; nil if it is not wanted any more.
    func call(_ standing: ClientConversation.Standing) -> Call? {
        switch standing {
        case .opening: nil
        case .handler(let name): index(ofHandler: name).map { handlers[$0].call }
        case .subscription(let name): index(ofSubscription: name).map { subscriptions[$0].call }
        }
    }

    private func index(ofHandler name: String) -> Int? { handlers.firstIndex { $0.name.isSame(as: name) } }
    private func index(ofSubscription name: String) -> Int? { subscriptions.firstIndex { $0.name.isSame(as: name) } }

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
