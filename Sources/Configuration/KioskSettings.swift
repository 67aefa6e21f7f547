public import KioskRules
public import QuickConnect

/// The section `kiosk`: what the window shows, and what its page may do. docs/kiosk.md describes each setting.
public struct KioskSettings: Sendable, Equatable {
    /// Which cookies are kept: all, those of the page's own site, or none.
    public enum Cookies: String, Sendable, CaseIterable {
        case always, noThirdParty, never
    }

    /// How much of what was loaded is cached in memory and on disk.
    public enum Cache: String, Sendable, CaseIterable {
        case none, small, full
    }

    /// The folder or address to show if the command line names none.
    public var page: String?
    /// Where a file sets it.
    public var pageLocation: SourceLocation?
    public var isFullScreen = false
    /// The monitor that shows the window; nil: the primary one, or the first.
    public var monitor: MonitorChoice?
    /// Further origins whose pages have the bridge, each such as `https://example.org`.
    public var origins: Set<String> = []
    /// Further origins that may be loaded, without the bridge.
    public var resources: Set<String> = []
    /// Whether addresses can be calls; nil: yes for a folder, no for an address.
    public var urlCalls: Bool?
    /// The schemes whose addresses call the command of the same name.
    public var schemes: [String] = []
    /// The commands that the page has as functions of its window, by their names.
    public var functions: [String] = []
    public var cookies = Cookies.noThirdParty
    /// Whether cookies and what pages store are kept over restarts.
    public var keepsData = true
    public var cache = Cache.small
    /// The text added to the engine's own User-Agent.
    public var userAgent = "QuickConnectKiosk"
    public var zoom = 1.0
    public var showsCursor = true
    public var letsScreenSleep = false
    public var isSandboxed = true
    /// The key that leaves the kiosk, as GTK writes it; nil: none.
    public var leaveKey: Located<String>? = Located(
        "<Control><Alt>q",
        at: SourceLocation(file: "the defaults", line: 1, column: 1)
    )
    public var hasContextMenu = false
    public var allowsLocation = true
    public var allowsMicrophone = false
    public var allowsCamera = false
    public var allowsDownloads = true
    /// The memory limit of the page's process; nil: none.
    public var memoryBytes: Int?
    /// A page that is unresponsive for this long counts as hanging; nil: not checked.
    public var hangSeconds: Double? = 20
    /// Where a logged message is cut, in characters.
    public var logMaxLength = 500

    public init() {}

    /// Whether a window with the other settings would be the same, wherever they are written.
    public func makesSame(as other: KioskSettings) -> Bool {
        var (one, other) = (self, other)
        (one.pageLocation, other.pageLocation) = (nil, nil)
        guard one.leaveKey?.value == other.leaveKey?.value else { return false }
        (one.leaveKey, other.leaveKey) = (nil, nil)
        return one == other
    }
}
