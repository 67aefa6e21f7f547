public import QuickConnect

/// What `kiosk` says: what the window shows, and what its page may. docs/kiosk.md describes each.
public struct KioskSettings: Sendable, Equatable {
    /// Which cookies are kept: all, those of the page's own site, or none.
    public enum Cookies: String, Sendable, CaseIterable {
        case always, noThirdParty, never
    }

    /// How much is kept in memory and on disk of what was loaded.
    public enum Cache: String, Sendable, CaseIterable {
        case none, small, full
    }

    /// The folder or the address that is shown where the command line names none.
    public var page: String?
    public var isFullScreen = false
    /// Whose pages have the bridge, besides the page's own: each such as `https://example.org`.
    public var origins: Set<String> = []
    /// Who else may be loaded, without the bridge.
    public var resources: Set<String> = []
    /// Whether addresses are calls; nil: for a folder they are, for an address not.
    public var urlCalls: Bool?
    /// The schemes whose addresses call the command of the same name.
    public var schemes: [String] = []
    public var cookies = Cookies.noThirdParty
    /// Whether cookies and what pages store are kept over restarts.
    public var keepsData = true
    public var cache = Cache.small
    /// What stands behind the engine's own User-Agent.
    public var userAgent = "QuickConnectKiosk"
    public var zoom = 1.0
    public var showsCursor = true
    public var letsScreenSleep = false
    public var isSandboxed = true
    /// The key that leaves the kiosk, as GTK writes it; nil: none does.
    public var leaveKey: Located<String>? = Located(
        "<Control><Alt>q",
        at: SourceLocation(file: "the defaults", line: 1, column: 1)
    )
    public var hasContextMenu = false
    public var allowsLocation = true
    public var allowsMicrophone = false
    public var allowsCamera = false
    public var allowsDownloads = true
    /// The memory that the process of the page may have; nil: no bound.
    public var memoryBytes: Int?
    /// A page that does not answer that long hangs; nil: nobody looks.
    public var hangSeconds: Double? = 20
    /// Where a logged message is cut, in characters.
    public var logMaxLength = 500

    public init() {}
}
