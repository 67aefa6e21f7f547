public import Configuration

/// What a kiosk's window is made from.
public nonisolated struct KioskOptions: Sendable {
    /// What is shown.
    public enum Page: Sendable, Hashable {
        /// A folder, served as `qc://app/`.
        case folder(String)
        case address(String)
    }

    public var page: Page
    /// What the owner has set.
    public var settings: KioskSettings
    /// Where the daemon is looked for.
    public var daemonPaths: [String]
    /// The text of quickconnect.js.
    public var library: String
    /// Where cookies and what pages store are kept.
    public var dataFolder: String
    /// Where what was loaded is kept.
    public var cacheFolder: String
    /// Whether a WebDriver may drive the page.
    public var isAutomated = false
    public var logsMessages = false
    /// Where a second start hands addresses over; nil: nowhere.
    public var handoverPath: String?
    /// An address of the owner's schemes that the window was started for.
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
