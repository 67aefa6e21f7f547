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
    private var orders: [Order] = []

    private struct Order {
        var call: Call
        var hearsCancel = false
        /// The connection over which the daemon accepted it last.
        var acceptedOver = 0

        var isHandler: Bool { if case .handler = call.standing { true } else { false } }
    }

    var isEmpty: Bool { opening.isEmpty && orders.isEmpty }

    func has(handler name: String) -> Bool { index(of: .handler(name)) != nil }

    /// Whether that handler is told when nobody waits any more for an answer.
    func hearsCancel(handler name: String) -> Bool {
        index(of: .handler(name)).map { orders[$0].hearsCancel } ?? false
    }

    /// Returns whether it is new.
    mutating func add(handler name: String, hearsCancel: Bool) -> Bool {
        guard !has(handler: name) else { return false }
        orders.append(Order(call: Self.call(handler: name, hearsCancel: hearsCancel), hearsCancel: hearsCancel))
        return true
    }

    /// Subscribing again replaces the options.
    mutating func add(subscription name: String, options: JSONObject?) {
        let call = Self.call(subscription: name, options: options)
        if let index = index(of: call.standing) {
            orders[index].call = call
        } else {
            orders.append(Order(call: call))
        }
    }

    /// Drops a handler or subscription.
    /// - Returns: whether there was one.
    @discardableResult
    mutating func remove(_ standing: ClientConversation.Standing) -> Bool {
        guard let index = index(of: standing) else { return false }
        orders.remove(at: index)
        return true
    }

    /// The daemon has accepted it over that connection.
    mutating func accept(_ standing: ClientConversation.Standing, over connection: Int) {
        if let index = index(of: standing) { orders[index].acceptedOver = connection }
    }

    /// Whether it stood over an earlier connection, and has not been accepted over this one.
    func isRenewed(_ standing: ClientConversation.Standing, over connection: Int) -> Bool {
        let accepted = index(of: standing).map { orders[$0].acceptedOver } ?? 0
        return accepted > 0 && accepted < connection
    }

    /// Everything, as calls.
    var calls: [Call] {
        opening.map { (.opening($0.command), $0.command, $0.message) }
            + (orders.filter(\.isHandler) + orders.filter { !$0.isHandler }).map(\.call)
    }

    /// What says it again; nil if it is not wanted any more.
    func call(_ standing: ClientConversation.Standing) -> Call? { index(of: standing).map { orders[$0].call } }

    private func index(of standing: ClientConversation.Standing) -> Int? {
        orders.firstIndex { $0.call.standing.isSame(as: standing) }
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

extension ClientConversation.Standing {
    /// Names are compared by their bytes; Swift compares strings by canonical equivalence.
    fileprivate func isSame(as other: Self) -> Bool {
        switch (self, other) {
        case (.opening(let name), .opening(let other)), (.handler(let name), .handler(let other)),
            (.subscription(let name), .subscription(let other)):
            name.utf8.elementsEqual(other.utf8)
        default: false
        }
    }
}
