import CWebKit
import Configuration
import KioskRules

/// A page as the window holds it: its view, and what belongs to this view alone. A window that shows several pages in turn
/// has a second one meanwhile, which nobody sees.
final class PageSheet {
    let view: PageView
    /// Connects the page with the daemon, and the window with the page's handlers.
    let bridge: Bridge
    let login: OwnLogin
    /// The address with which it begins, and to which it returns.
    let home: String
    /// The address of what is shown or should be.
    var shown: String
    /// Runs while a page has been asked for and none has begun to come.
    var loading: LoopSource?
    /// Runs while a page has begun to come and is not complete.
    var settling: LoopSource?
    var dialogs: Dialogs? { didSet { hush() } }
    var permissions: PagePermissions? { didSet { hush() } }
    var watchdog: Watchdog?
    /// When somebody touched it or typed into it last.
    private var usedAt: ContinuousClock.Instant?
    /// How long somebody who has touched a page may look at it.
    private static let attention = Duration.seconds(30)
    /// Why it was lost while it was about to be shown.
    var loss: String?
    /// Whether nobody sees it yet: it makes no sound and no calls, and asks nobody for anything.
    var isUnseen = false { didSet { hush() } }

    init(_ view: PageView, _ home: String, _ rule: NavigationRule, _ options: KioskOptions, _ daemon: DaemonHost) {
        (self.view, self.home, shown) = (view, home, home)
        bridge = Bridge(
            view,
            rule,
            library: options.library,
            functions: options.settings.functions,
            paths: options.daemonPaths
        )
        login = OwnLogin(daemon, view)
        heedUse()
        if !options.settings.showsCursor { view.addStyle("*, *::before, *::after { cursor: none !important }") }
    }

    /// Whether somebody uses it now.
    var isUsed: Bool { usedAt.map { $0.duration(to: .now) < Self.attention } ?? false }

    private func heedUse() {
        for signal in ["button-press-event", "touch-event", "key-press-event"] {
            connect(view.view, asking: signal) { [weak self] _ in
                self?.usedAt = .now
                return false
            }
        }
    }

    private func hush() {
        if (webkit_web_view_get_is_muted(view.view) != 0) != isUnseen {
            webkit_web_view_set_is_muted(view.view, isUnseen ? 1 : 0)
        }
        view.isUnseen = isUnseen
        dialogs?.isUnseen = isUnseen
        permissions?.isUnseen = isUnseen
        bridge.channel.isHeld = isUnseen
    }

    /// Ends the page, and the process that runs it.
    func end() {
        loading?.cancel()
        settling?.cancel()
        dialogs?.close()
        view.close()
    }
}
