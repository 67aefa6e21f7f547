import JSON
import QuickConnect

/// `subscribe [name, …, {options}]`: sends these events to this connection, in the form of this call.
struct SubscribeBCO: BCO {
    let touchesDevice = true
    private let router: Router
    private let limit: Int

    /// - Parameter limit: how many events a connection may subscribe to.
    init(_ router: Router, limit: Int) {
        self.router = router
        self.limit = limit
    }

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        let wish = try call.handedOn { (call: borrowing Call) throws(CommandError) in
            try SubscriptionWish(call, limit: limit)
        }
        try router.subscribe(call.connection, to: wish.names, options: wish.options, form: call.request.form)
        return .result(.null)
    }
}
