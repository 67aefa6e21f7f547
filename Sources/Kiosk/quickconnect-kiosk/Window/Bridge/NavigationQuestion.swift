import JSON
import QuickConnectClient

/// Asks the owner's code whether the window may load an address that its settings allow: the handler `kioskNavigation`,
/// if a program has registered it. That is the delegate of the originals.
///
/// Until it has answered once, nobody is asked while the handler is missing or the daemon does not run. From then on its
/// absence refuses all but the window's first page: while a daemon or a script restarts, its rules hold. A handler that
/// fails or is late refuses.
final class NavigationQuestion {
    static let handler = "kioskNavigation"
    /// Its mapping has a shorter one; this is for a daemon that does not answer.
    private static let timeout = Duration.seconds(3)

    private let daemon: DaemonHost
    /// Whether the daemon has said that nobody has registered it.
    private var isMissing = false
    /// Whether it has decided, so that there are rules.
    private var hasAnswered = false

    init(_ daemon: DaemonHost) {
        self.daemon = daemon
        daemon.didConnect = { [weak self] in self?.isMissing = false }
        daemon.subscribe(to: "handlers") { [weak self] event in
            if event.objectValue?["name"]?.stringValue == Self.handler { self?.isMissing = false }
        }
    }

    /// - Parameters:
    ///   - page: the address of the current page.
    ///   - isHome: whether it is the window's first page.
    ///   - answer: called once, at once or later: with nil if it may be loaded, else with the reason.
    func ask(
        _ navigation: Navigation,
        from page: String?,
        isHome: Bool,
        _ answer: @escaping (_ refusal: String?) -> Void
    ) {
        guard daemon.isConnected, !isMissing else { return answer(isHome ? nil : absence) }
        let message: JSONObject = [
            "address": .string(navigation.address), "navigationType": .string(navigation.kind.rawValue),
            "page": page.map { .string($0) } ?? .null,
        ]
        daemon.call(Self.handler, .object(message), timeout: Self.timeout) { [weak self] result in
            answer(self?.refusal(result, isHome: isHome))
        }
    }

    /// Why nothing is loaded while it is not there; nil if there are no rules.
    private var absence: String? {
        hasAnswered
            ? "the handler \(Self.handler), which has decided before, is not there; without it the window must be opened anew"
            : nil
    }

    /// An error of a handler itself names it.
    private static func isMissing(_ error: ErrorReply) -> Bool {
        error.code == "unknownCommand" || error.code == "unavailable" && error.members["handler"] == nil
    }

    private func refusal(_ result: Result<JSONValue, CallFailure>, isHome: Bool) -> String? {
        if case .success(.bool) = result { hasAnswered = true }
        switch result {
        case .success(.bool(true)): return nil
        case .success(.bool(false)): return "the handler \(Self.handler) refuses it"
        case .success(let value):
            return "the handler \(Self.handler) must answer true or false; got \(value.text.prefix(100))"
        case .failure(.refused(let error)) where Self.isMissing(error):
            isMissing = true
            return isHome ? nil : absence
        case .failure(let failure):
            return "the handler \(Self.handler) was asked, and failed: \(failure)"
        }
    }
}
