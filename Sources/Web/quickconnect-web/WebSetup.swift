import CommandLineText
import Configuration
import Glibc
import Linux
import QuickConnect
import WebGateway

/// What flags, environment and settings say together.
struct WebSetup {
    var options = WebOptions()
    var logLevel: LogLevel
    /// What the settings lack, so that no page reaches a daemon; nil if they have it.
    var lack: String?

    init(_ flags: QuickConnectWeb, _ environment: [String: String]) throws(ConfigurationMistakes) {
        let folders = StandardFolders(environment, service: "quickconnect-web")
        let config: Settings.Overrides = [.config: flags.gateway.config]
        let settings = try Settings.load(flags: config, environment: environment, folders: folders)
        let own = settings.web
        logLevel = flags.gateway.level(settings)
        options.daemonPaths = flags.gateway.daemonPaths(settings, environment)
        options.bridgePath = flags.gateway.bridgePath(of: "web", settings)
        if flags.gateway.bridgeSocket == nil, !settings.sockets.contains(where: { $0.gateway?.value == "web" }) {
            lack = Self.lack(isService: environment["STATE_DIRECTORY"] != nil)
        }
        options.pages = (flags.pages ?? own.pages).map { [$0] } ?? [folders.pages]
        options.pages.append(folders.shippedPages)
        options.state = flags.gateway.statePath(of: "web", folders, environment)
        options.names = own.names
        options.address = own.address
        options.allowsInline = flags.inlineScripts || own.inlineScripts
        options.tiles = own.tiles
        options.sessionTime = .seconds(own.sessionSeconds)
        options.connections = own.connections
        options.lineBytes = settings.limits.lineBytes
        options.daemonConnections =
            settings.sockets.first { $0.gateway?.value == "web" }?.connections ?? options.daemonConnections
        options.watches = flags.watch || own.watches
        // Whoever starts it in a terminal is at work on the pages.
        options.showsRefusals = options.watches || (0...2).contains { isatty($0) == 1 }
        options.listeners = try Self.listeners(flags.listen, own, environment)
    }

    private static func lack(isService: Bool) -> String {
        let place = isService ? "systemd: web" : "path: /tmp/web.sock"
        let user = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "NAME"
        let entry = "- {\(place), gateway: web, user: \(user), commands: [hello, ping, state, sounds, playSound]}"
        return """
            the settings have no socket for this gateway, so its pages reach no daemon: below «sockets:» write «\(entry)», \
            with all commands that pages may call, and start the daemon with these settings
            """
    }

    /// The flag's listener, otherwise systemd's, otherwise the settings'.
    private static func listeners(
        _ flag: String?,
        _ settings: WebSettings,
        _ environment: [String: String]
    ) throws(ConfigurationMistakes) -> [WebOptions.Listener] {
        if let flag { return [try listener(flag)] }
        let passed = ListeningSocket.passedBySystemd(environment: environment)
        guard passed.isEmpty else { return passed.map { .passed(descriptor: $0.descriptor) } }
        return [try listener(settings.listen)]
    }

    private static func listener(_ text: String) throws(ConfigurationMistakes) -> WebOptions.Listener {
        switch WebSettings.Listener(text) {
        case .unix(let path)?: return .unix(path: path)
        case .tcp(let host, let port)?: return .tcp(host: host, port: port)
        case nil:
            let problem = "'\(text)' is not \(WebSettings.Listener.expectation)"
            throw ConfigurationMistakes([ConfigurationMistake(problem, at: .outside("--listen"))])
        }
    }
}
