import JSON
import QuickConnect

/// `subscribe [name, …, {options}]`: sends these events to this connection, in the form of this call.
struct SubscribeBCO: BCO {
    let touchesDevice = true
    private let router: Router

    init(_ router: Router) { self.router = router }

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        let wish = try call.handedOn { (call: borrowing Call) throws(CommandError) in
            try SubscriptionWish(call, limit: router.frontController.limits.subscriptionsPerConnection)
        }
        try router.subscribe(call.connection, to: wish.names, options: wish.options, form: call.request.form)
        return .result(.null)
    }
}
