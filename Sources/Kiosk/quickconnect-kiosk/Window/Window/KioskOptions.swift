internal import Configuration

/// The configuration of a kiosk's window.
nonisolated struct KioskOptions: Sendable {
    /// What is shown.
    enum Page: Sendable, Hashable {
        /// A folder, served as `qc://app/`, and the name of its first page; empty: its index.html.
        case folder(String, first: String = "")
        case address(String)
    }

    var page: Page
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
