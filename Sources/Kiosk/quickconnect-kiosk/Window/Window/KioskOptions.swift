internal import Calendar
internal import Configuration
internal import KioskRules
internal import QuickConnect

/// The configuration of a kiosk's window.
nonisolated struct KioskOptions: Sendable {
    /// What is shown.
    enum Page: Sendable, Hashable {
        /// A folder, served as `qc://app/`, and the name of its first page; empty: its index.html.
        case folder(String, first: String = "")
        case address(String)
    }

    /// Pages that are shown in turn.
    struct Turns: Sendable {
        var pages: [Page]
        /// The same, with their times.
        var order: [PageOrder.Page]
        /// Where the device is, for times that go by the sun.
        var place: ScheduleRule.Place?
    }

    /// The page with which the window begins.
    var page: Page
    /// Nil: there is one page, at all times.
    var turns: Turns?
    /// What is shown where a page cannot be; nil: a notice.
    var fallback: Page?
    /// The owner's settings.
    var settings: KioskSettings
    /// The paths of the daemon's socket to try.
    var daemonPaths: [String]
    /// The text of quickconnect.js.
    var library: String
    /// The folder of the shipped pages, whose files a folder of pages has, too.
    var shippedPages: String
    /// The folder for cookies and pages' storage.
    var dataFolder: String
    /// The folder of the cache.
    var cacheFolder: String
    /// Whether a WebDriver may control the page.
    var isAutomated = false
    var logsMessages = false
    /// The socket through which a second start passes addresses; nil: none.
    var handoverPath: String?
    /// The address, of one of the owner's schemes, with which the window was started.
    var handedOver: String?
}

extension KioskOptions {
    /// The host of the addresses of the fallback's folder.
    static let fallbackHost = "fallback"

    private var pages: [Page] { turns?.pages ?? [page] }

    /// The folders of pages, and the hosts of their addresses: `app`, `app2`, …
    var folders: [(path: String, host: String)] {
        var paths: [String] = []
        for case .folder(let path, _) in pages where !paths.contains(path) { paths.append(path) }
        return paths.enumerated().map { ($1, $0 == 0 ? "app" : "app\($0 + 1)") }
    }

    func address(of page: Page) -> String {
        switch page {
        case .address(let address): return address
        case .folder(let path, let first):
            return Self.address(folders.first { $0.path == path }?.host ?? "app", first)
        }
    }

    /// The address of the fallback; nil if there is none.
    var fallbackAddress: String? {
        guard case .folder(_, let first) = fallback else { return nil }
        return Self.address(Self.fallbackHost, first)
    }

    private static func address(_ host: String, _ file: String) -> String {
        "qc://\(host)/\(PercentEncoding.encode(file))"
    }

    /// What a page may do with addresses. Each of the owner's pages may lead to the others.
    func rule(for page: Page) -> NavigationRule {
        var isFolder = false
        if case .folder = page { isFolder = true }
        return NavigationRule(
            origins: settings.origins.union(pages.compactMap { PageAddress(address(of: $0))?.origin }),
            resources: settings.resources,
            urlCalls: settings.urlCalls ?? isFolder,
            schemes: settings.schemes
        )
    }
}
