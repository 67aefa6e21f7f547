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
    /// Where it is of no use: other gateways' pages, and this one's if a rule forbids it.
    private var hopeless: Set<String> = []
    var log: (String) -> Void = { _ in }

    init(_ daemon: DaemonHost, _ page: PageView) {
        self.daemon = daemon
        self.page = page
    }

    /// Called when a page has been loaded.
    func pageIsThere() {
        guard !isBusy, let address = page.address, OwnGateway.mayAsk(at: address), !hopeless.contains(address) else {
            return
        }
        isBusy = true
        daemon.call("web", ["open"], timeout: Self.timeout) { [weak self] in self?.take($0, at: address) }
    }

    private func take(_ result: Result<JSONValue, CallFailure>, at address: String) {
        LoopSource.after(Self.pause) { [weak self] in
            self?.isBusy = false
            self?.pageIsThere()
        }
        switch result {
        case .success(let answer):
            let link = answer.objectValue?["address"]?.stringValue ?? ""
            guard let login = OwnGateway(link: link).login(at: address) else { return giveUp(address) }
            // Somebody may have left it meanwhile.
            if page.address == address { page.load(login) }
        case .failure(.refused(let error)) where error.code == "denied" || error.code == "unknownCommand":
            log("the window does not log itself in at «\(address.prefix(200))»: \(error.message)")
            giveUp(address)
        case .failure(let failure): log("the window cannot log itself in yet: \(failure)")
        }
    }

    private func giveUp(_ address: String) {
        if hopeless.count > 100 { hopeless = [] }
        hopeless.insert(address)
    }
}
