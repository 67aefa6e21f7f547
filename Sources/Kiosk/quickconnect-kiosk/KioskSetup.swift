import Actions
import Configuration
import Glibc
import KioskRules
import Linux
import QuickConnect
import QuickConnectClient

/// What flags, environment and settings say together.
nonisolated struct KioskSetup {
    var options: KioskOptions
    var logLevel: LogLevel
    var actions: ActionLibrary
    /// The folders with the files of actions' views.
    var actionViews: [String]

    init(_ flags: QuickConnectKiosk, _ environment: [String: String]) throws(ConfigurationMistakes) {
        let folders = StandardFolders(environment)
        let settings = try Settings.ofUser(flags: [.config: flags.config], environment: environment, folders: folders)
        logLevel = flags.logLevel ?? LogLevel(rawValue: settings.logLevel) ?? .info
        // The daemon's environment names its socket, which the client's rule looks at itself.
        let named = flags.socket ?? (environment["QUICKCONNECT_SOCKET"] == nil ? settings.socket : nil)
        let handedOver = flags.page.flatMap { Self.isOwnScheme($0, settings.kiosk) ? $0 : nil }
        options = KioskOptions(
            page: try Self.page(handedOver == nil ? flags.page : nil, settings.kiosk),
            settings: settings.kiosk,
            daemonPaths: SocketPaths.candidates(named: named, environment: environment),
            library: try Self.library(folders),
            shippedPages: folders.shippedPages,
            dataFolder: "\(Self.folder("XDG_DATA_HOME", ".local/share", environment))/quickconnect-kiosk",
            cacheFolder: "\(Self.folder("XDG_CACHE_HOME", ".cache", environment))/quickconnect-kiosk"
        )
        if flags.page == nil || handedOver != nil { options.turns = Self.turns(settings) }
        options.fallback = settings.kiosk.fallback.map { Self.page(at: $0) }
        actions = ActionLibrary(ActionFolders(folders), ActionState(folders), commands: settings.actionCommands)
        actionViews = [folders.actionView, folders.shippedPages]
        if flags.fullScreen { options.settings.isFullScreen = true }
        options.handedOver = handedOver
        if let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") {
            options.handoverPath = "\(runtime)/quickconnect-kiosk.sock"
        }
        options.isAutomated = flags.automation
        options.logsMessages = flags.logMessages
    }

    private static func folder(_ variable: String, _ fallback: String, _ environment: [String: String]) -> String {
        if let path = environment[variable], path.hasPrefix("/") { return path }
        // A folder that others may write to is not safe for cookies.
        return "\(environment["HOME"] ?? SystemNames.home(ofUser: getuid()) ?? "/")/\(fallback)"
    }

    private static func isOwnScheme(_ text: String, _ settings: KioskSettings) -> Bool {
        guard let scheme = PageAddress(text)?.scheme else { return false }
        return settings.schemes.contains { $0.lowercased() == scheme }
    }

    /// - Parameters:
    ///   - argument: the command line's.
    ///   - settings: where the command line names none.
    private static func page(
        _ argument: String?,
        _ settings: KioskSettings
    ) throws(ConfigurationMistakes) -> KioskOptions.Page {
        if argument == nil, areTurns(settings.pages), let first = settings.pages.first { return page(at: first.open) }
        let setting = settings.page ?? settings.pages.first?.open
        func mistake(_ message: String) -> ConfigurationMistakes {
            Self.mistake(message, in: argument == nil ? "'page' of 'kiosk' in the settings" : "the page")
        }
        guard let text = argument ?? setting, !text.isEmpty else {
            throw Self.mistake(
                "name a folder, an HTML file or an address, or set 'page' of 'kiosk' in the settings",
                in: "the page"
            )
        }
        if text.contains("://") {
            guard let address = PageAddress(text), address.origin != nil, ["http", "https"].contains(address.scheme)
            else { throw mistake("'\(text)' is not the address of a page; an address begins with https:// or http://") }
            return .address(text)
        }
        guard let resolved = realpath(text, nil) else { throw mistake("\(text): \(SystemCallError.text(errno))") }
        defer { free(resolved) }
        let path = String(cString: resolved)
        var status = stat()
        let isThere = stat(path, &status) == 0
        if isThere, status.st_mode & S_IFMT == S_IFREG, path.hasSuffix(".html"), let folder = Folders.parent(of: path) {
            return .folder(folder, first: String(path.dropFirst(folder.count).drop { $0 == "/" }))
        }
        guard isThere, status.st_mode & S_IFMT == S_IFDIR else {
            throw mistake("\(text) is not a folder, nor an HTML file")
        }
        guard FileText.exists("\(path)/index.html") else { throw mistake("\(text) has no index.html") }
        return .folder(path)
    }

    private static func areTurns(_ pages: [KioskSettings.Page]) -> Bool {
        pages.count > 1 || pages.contains { $0.times != nil }
    }

    /// Pages in turn; nil where one is shown at all times.
    private static func turns(_ settings: Settings) -> KioskOptions.Turns? {
        let pages = settings.kiosk.pages
        guard areTurns(pages) else { return nil }
        return KioskOptions.Turns(
            pages: pages.map { page(at: $0.open) },
            order: pages.map { PageOrder.Page(duration: Int64($0.seconds * 1000), times: $0.times) },
            place: settings.position
        )
    }

    /// One that is not there yet may come: until then, it is passed over.
    private static func page(at place: String) -> KioskOptions.Page {
        if place.contains("://") { return .address(place) }
        guard place.hasSuffix(".html"), let folder = Folders.parent(of: place) else { return .folder(place) }
        return .folder(folder, first: String(place.dropFirst(folder.count).drop { $0 == "/" }))
    }

    private static func library(_ folders: StandardFolders) throws(ConfigurationMistakes) -> String {
        let path = "\(folders.shippedPages)/quickconnect.js"
        return try FileText.read(path, maximumBytes: 1 << 20).mapError { mistake($0.message, in: path) }.get()
    }

    private static func mistake(_ message: String, in place: String) -> ConfigurationMistakes {
        ConfigurationMistakes([ConfigurationMistake(message, at: .outside(place))])
    }
}
