internal import JSON
import KioskRules

/// Connects the page and the daemon: all ways in which a page can call, and the window's calls to its handlers.
///
/// The page's side is quickconnect.js, as in any browser, but with this window's transport instead of a WebSocket. It
/// is added to the page's JavaScript world in the top frame of documents of the allowed origins. Its messages pass
/// through a world of the window's own, whose message handler no page or frame can see.
final class Bridge {
    private static let world = PageView.World.named("quickconnect")

    private unowned let page: PageView
    let channel: PageChannel
    let rule: NavigationRule

    /// - Parameters:
    ///   - library: the text of quickconnect.js.
    ///   - functions: the commands that the page has as functions of its window.
    ///   - paths: the paths of the daemon's socket to try.
    init(_ page: PageView, _ rule: NavigationRule, library: String, functions: [String], paths: [String]) {
        self.page = page
        self.rule = rule
        channel = PageChannel(paths: paths)
        let origins = JSONValue.array(rule.origins.sorted().map { .string($0) }).text
        page.addMessageHandler("quickconnect", in: Self.world) { [channel] text, reply in channel.take(text, reply) }
        let link = String(decoding: PackageResources.link_js, as: UTF8.self)
        // Each script checks the origin itself, because WebKit's own lists do not support ports.
        page.addScript("(\(link))(\(origins));", in: Self.world)
        let function = String(decoding: PackageResources.page_js, as: UTF8.self)
        let names = JSONValue.array(functions.map { .string($0) }).text
        page.addScript("(\(function))(\(origins), \(names), function () {\n\(library)\n});", in: .page)
        let media = String(decoding: PackageResources.media_js, as: UTF8.self)
        page.addScript("(\(media))(\(origins));", in: .page)
    }

    // MARK: Ways in by addresses

    /// Decides on an address that the page or one of its frames navigates to.
    /// - Returns: whether to load it.
    func decide(_ address: String, log: (String) -> Void) -> Bool {
        let decision = rule.decide(address, from: page.address)
        if case .load = decision { return true }
        obey(decision, address, log)
        return false
    }

    /// Takes an address from another program.
    func open(_ address: String, log: (String) -> Void) { obey(rule.decideFromOutside(address), address, log) }

    private func obey(_ decision: NavigationRule.Decision, _ address: String, _ log: (String) -> Void) {
        switch decision {
        case .load: break
        case .call(let query): channel.say(PageFrame(.urlCall, 0, query))
        case .command(let name, let address): channel.say(PageFrame(.urlCall, 1, Self.commandCall(name, address)))
        case .bridgeLoaded: channel.say(PageFrame(.bridgeLoaded))
        case .bridgeMessages: channel.say(PageFrame(.bridgeMessages))
        case .refuse(let why): log("«\(address.prefix(200))» is not loaded: \(why)")
        }
    }

    /// A command and its one parameter, for the page's makeCall.
    private static func commandCall(_ name: String, _ address: String) -> String {
        JSONValue.array([.string(name), .string(address)]).text
    }

    // MARK: Handlers of the page

    /// The page's handler by which the native side of the original asks a page's bridge to handle messages at once.
    static let safetyTimeoutHandler = "_disableJavascriptAlertBoxSafetyTimeout"

    /// Asks the page's bridge to handle messages at once, not in a later turn. Only a bridge that the page itself brings
    /// waits for a turn; like the original's, it does not answer.
    func disableJavascriptAlertBoxSafetyTimeout() { channel.callHandler(Self.safetyTimeoutHandler) }
}
