import ArgumentParser
import Configuration
import Glibc
import Linux
import QuickConnect
import QuickConnectClient
import WebGateway

/// What flags, environment and settings say together.
struct Setup {
    var options = WebOptions()
    var logLevel: LogLevel

    init(_ flags: QuickConnectWeb, _ environment: [String: String]) throws(ConfigurationMistakes) {
        let folders = StandardFolders(
            isRoot: geteuid() == 0,
            environment: environment,
            program: OwnProcess.program,
            service: "quickconnect-web"
        )
        var overrides = Settings.Overrides()
        overrides.config = flags.config
        let settings = try Settings.load(flags: overrides, environment: environment, folders: folders)
        let own = settings.web
        logLevel = flags.logLevel ?? LogLevel(rawValue: settings.logLevel) ?? .info
        // The daemon's environment names its socket, which the client's rule looks at itself.
        let named = flags.socket ?? (environment["QUICKCONNECT_SOCKET"] == nil ? settings.socket : nil)
        options.daemonPaths = SocketPaths.candidates(named: named, environment: environment)
        options.bridgePath = flags.bridgeSocket ?? settings.webSocketPath ?? options.bridgePath
        options.pages = (flags.pages ?? own.pages).map { [$0] } ?? [folders.pages]
        options.pages.append(folders.shippedPages)
        options.state = flags.state ?? Self.state(folders, environment)
        options.names = own.names
        options.address = own.address
        options.allowsInline = flags.inlineScripts || own.inlineScripts
        options.tiles = own.tiles
        options.sessionTime = .seconds(own.sessionSeconds)
        options.connections = own.connections
        options.watches = flags.watch
        options.listeners = try Self.listeners(flags.listen, own, environment)
    }

    /// A service has a folder of its own; an ordinary user's is shared by several programs.
    private static func state(_ folders: StandardFolders, _ environment: [String: String]) -> String {
        geteuid() == 0 || environment["STATE_DIRECTORY"] != nil ? folders.state : "\(folders.state)/web"
    }

    /// The flag's, else systemd's, else the settings'.
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
            let place = SourceLocation(file: "--listen", line: 1, column: 1)
            throw ConfigurationMistakes([
                ConfigurationMistake("'\(text)' is not \(WebSettings.Listener.expectation)", at: place)
            ])
        }
    }
}
