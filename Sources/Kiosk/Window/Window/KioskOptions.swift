public import Configuration

/// The configuration of a kiosk's window.
public nonisolated struct KioskOptions: Sendable {
    /// What is shown.
    public enum Page: Sendable, Hashable {
        /// A folder, served as `qc://app/`.
        case folder(String)
        case address(String)
    }

    public var page: Page
    /// The owner's settings.
    public var settings: KioskSettings
    /// The paths of the daemon's socket to try.
    public var daemonPaths: [String]
    /// The text of quickconnect.js.
    public var library: String
    /// The folder for cookies and pages' storage.
    public var dataFolder: String
    /// The folder of the cache.
    public var cacheFolder: String
    /// Whether a WebDriver may control the page.
    public var isAutomated = false
    public var logsMessages = false
    /// The socket through which a second start passes addresses; nil: none.
    public var handoverPath: String?
    /// The address, of one of the owner's schemes, with which the window was started.
    public var handedOver: String?

    public init(
        _ page: Page,
        _ settings: KioskSettings,
        daemonPaths: [String],
        library: String,
        dataFolder: String,
        cacheFolder: String
    ) {
        self.page = page
        self.settings = settings
        self.daemonPaths = daemonPaths
        self.library = library
        self.dataFolder = dataFolder
        self.cacheFolder = cacheFolder
    }
}
