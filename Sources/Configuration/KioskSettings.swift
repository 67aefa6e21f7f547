package import Calendar
import Glibc
package import KioskRules
package import QuickConnect

/// The section `kiosk`: what the window shows, and what its page may do. docs/kiosk.md describes each setting.
package struct KioskSettings: Sendable, Equatable {
    /// Which cookies are kept: all, those of the page's own site, or none.
    package enum Cookies: String, Sendable, CaseIterable {
        case always, noThirdParty, never
    }

    /// How much of what was loaded is cached in memory and on disk.
    package enum Cache: String, Sendable, CaseIterable {
        case none, small, full
    }

    /// One of several pages that are shown in turn.
    package struct Page: Sendable, Equatable {
        /// How long a page may stay, in seconds.
        package static let stays = 5.0...86_400

        /// A folder, an HTML file or an address.
        package var open = ""
        /// Where a file has it.
        package var location: SourceLocation
        /// How long it stays.
        package var seconds = 30.0
        package var from: ScheduleRule.Moment?
        package var until: ScheduleRule.Moment?
        package var days: Set<Weekday>?

        /// When it may be shown; nil: always.
        package var times: DayTimes? {
            from == nil && until == nil && days == nil ? nil : DayTimes(from: from, until: until, days: days)
        }
    }

    package static let maximumPages = 100

    /// The folder or address to show if the command line names none.
    package var page: String?
    /// Where a file sets it.
    package var pageLocation: SourceLocation?
    /// Instead of it: pages that are shown in turn.
    package var pages: [Page] = []
    /// The folder or HTML file to show where a page cannot be shown; nil: what the window shows by itself.
    package var fallback: String?
    package var fallbackLocation: SourceLocation?
    package var isFullScreen = false
    /// The monitor that shows the window; nil: the primary one, or the first.
    package var monitor: MonitorChoice?
    /// Further origins whose pages have the bridge, each such as `https://example.org`.
    package var origins: Set<String> = []
    /// Further origins that may be loaded, without the bridge.
    package var resources: Set<String> = []
    /// Whether addresses can be calls; nil: yes for a folder, no for an address.
    package var urlCalls: Bool?
    /// The schemes whose addresses call the command of the same name.
    package var schemes: [String] = []
    /// The commands that the page has as functions of its window, by their names.
    package var functions: [String] = []
    package var cookies = Cookies.noThirdParty
    /// Whether cookies and what pages store are kept over restarts.
    package var keepsData = true
    package var cache = Cache.small
    /// The text added to the engine's own User-Agent.
    package var userAgent = "QuickConnectKiosk"
    package var zoom = 1.0
    package var showsCursor = true
    package var letsScreenSleep = false
    package var isSandboxed = true
    /// The key that leaves the kiosk, as GTK writes it; nil: none.
    package var leaveKey: Located<String>? = Located("<Control><Alt>q", at: .outside("the defaults"))
    package var hasContextMenu = false
    package var allowsLocation = true
    package var allowsMicrophone = false
    package var allowsCamera = false
    package var allowsDownloads = true
    /// The memory limit of the page's process; nil: none.
    package var memoryBytes: Int?
    /// A page that is unresponsive for this long counts as hanging; nil: not checked.
    package var hangSeconds: Double? = 20
    /// Where a logged message is cut, in characters.
    package var logMaxLength = 500

    package init() {}

    /// Whether a window with the other settings would be the same, wherever they are written.
    package func makesSame(as other: KioskSettings) -> Bool {
        var (one, other) = (placeless, other.placeless)
        guard one.leaveKey?.value == other.leaveKey?.value else { return false }
        (one.leaveKey, other.leaveKey) = (nil, nil)
        return one == other
    }

    private var placeless: KioskSettings {
        var settings = self
        (settings.pageLocation, settings.fallbackLocation) = (nil, nil)
        for index in pages.indices { settings.pages[index].location = .outside("") }
        return settings
    }
}

extension KioskSettings {
    /// What is odd and does no harm: a page that is not there may still come.
    package var warnings: [ConfigurationMistake] {
        let listed = pages.map { Self.warning("'open'", $0.open, $0.location, "the kiosk passes over it") }
        let page = Self.warning("'page'", page, pageLocation, "the kiosk shows nothing")
        let fallback = Self.warning("'fallback'", fallback, fallbackLocation, "the kiosk shows its own page instead")
        return ([page] + listed + [fallback]).compactMap(\.self)
    }

    private static func warning(
        _ what: String,
        _ page: String?,
        _ location: SourceLocation?,
        _ effect: String
    ) -> ConfigurationMistake? {
        guard let page, let location, !page.contains("://") else { return nil }
        var status = stat()
        let problem: String
        if stat(page, &status) != 0 {
            // Of a folder that this user may not see, nothing is known.
            guard errno == ENOENT || errno == ENOTDIR else { return nil }
            problem = "\(page.hasSuffix(".html") ? "" : "the folder ")\(page) does not exist"
        } else if status.st_mode & S_IFMT == S_IFREG, page.hasSuffix(".html") {
            return nil
        } else if status.st_mode & S_IFMT != S_IFDIR {
            problem = "\(page) is not a folder"
        } else if stat("\(page)/index.html", &status) != 0, errno == ENOENT {
            problem = "the folder \(page) has no index.html"
        } else {
            return nil
        }
        let remedy = "give a folder with an index.html\(what == "'fallback'" ? "" : ", or an address")"
        return ConfigurationMistake("\(what): \(problem), so \(effect); \(remedy)", at: location)
    }
}
