import JSON
import KioskRules
import QuickConnectClient

/// Logs the window in where its page is one of this device's own gateway, which would show the log-in form: a kiosk has no
/// keyboard, and nobody there knows a token.
final class OwnLogin {
    private static let timeout = Duration.seconds(10)
    /// How long it waits with the next try, if the daemon or the gateway is not there yet, or the log-in has led back to
    /// the form.
    private static let pause = Duration.seconds(10)

    private let daemon: DaemonHost
    private let page: PageView
    /// Whether a try is under way, or the next one waits.
    private var isBusy = false
    /// Origins where it is of no use for a while: other gateways', and this one's if a rule forbids it.
    private var hopeless: Set<String> = []
    /// How long: rules change, and so does what the daemon says of the gateway.
    private static let rest = Duration.seconds(300)
    /// The address with a code that it is about to load.
    private var link: String?
    var log: (String) -> Void = { _ in }

    init(_ daemon: DaemonHost, _ page: PageView) {
        self.daemon = daemon
        self.page = page
    }

    /// Called when a page has been loaded.
    func pageIsThere() {
        guard !isBusy, let address = page.address, OwnGateway.isLogIn(address),
            let origin = PageAddress(address)?.origin, !hopeless.contains(origin)
        else { return }
        guard OwnGateway.isSafe(address) else {
            return giveUp(origin, "without TLS, anybody in the network may answer to a name")
        }
        isBusy = true
        daemon.call("web", ["open"], timeout: Self.timeout) { [weak self] in self?.take($0, at: address, of: origin) }
    }

    /// Whether a navigation is this one's own, which no handler is asked about: its address has a code.
    func takes(_ address: String) -> Bool {
        guard address == link else { return false }
        link = nil
        return true
    }

    private func take(_ result: Result<JSONValue, CallFailure>, at address: String, of origin: String) {
        LoopSource.after(Self.pause) { [weak self] in
            self?.isBusy = false
            self?.pageIsThere()
        }
        switch result {
        case .success(let answer):
            let own = OwnGateway(link: answer.objectValue?["address"]?.stringValue ?? "")
            guard let login = own.login(at: address) else {
                return giveUp(origin, "the pages of this device are at \(own.origin ?? "no address")")
            }
            // Somebody may have left it meanwhile.
            guard page.address == address else { return }
            link = login
            page.load(login)
        case .failure(.refused(let error)) where error.code == "denied" || error.code == "unknownCommand":
            giveUp(origin, error.message)
        case .failure(let failure): log("the window cannot log itself in yet: \(failure)")
        }
    }

    private func giveUp(_ origin: String, _ reason: String) {
        log("the window does not log itself in at \(origin.prefix(200)): \(reason)")
        hopeless.insert(origin)
        LoopSource.after(Self.rest) { [weak self] in self?.hopeless.remove(origin) }
    }
}
