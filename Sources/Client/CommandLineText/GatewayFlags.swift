package import ArgumentParser
package import Configuration
internal import Glibc
package import Linux
internal import QuickConnectClient

/// The flags that all gateways have, and how they combine with settings and environment.
package struct GatewayFlags: ParsableArguments {
    @Option(help: ArgumentHelp("\(SocketPaths.help)", valueName: "PATH"))
    package var socket: String?

    @Option(
        help: ArgumentHelp(
            "The daemon's socket for this gateway: an entry of «sockets» with «gateway» (default: its path there, else "
                + "/run/quickconnect/GATEWAY.sock, with gateway web or mqtt).",
            valueName: "PATH"
        )
    )
    package var bridgeSocket: String?

    @Option(help: ArgumentHelp("The folder for its state.", valueName: "FOLDER"))
    package var state: String?

    @Option(help: ArgumentHelp("The settings file.", valueName: "FILE"))
    package var config: String?

    @Option(help: ArgumentHelp("What to log: \(LogLevel.names).", valueName: "LEVEL"))
    package var logLevel: LogLevel?

    package init() {}

    /// Possible paths of the daemon's ordinary socket. The client's own rule checks the environment.
    package func daemonPaths(_ settings: Settings, _ environment: [String: String]) -> [String] {
        let named = socket ?? (environment["QUICKCONNECT_SOCKET"] == nil ? settings.socket : nil)
        return SocketPaths.candidates(named: named, environment: environment)
    }

    /// The daemon's socket for a gateway.
    /// - Parameter gateway: what it is called in the settings, such as `web`.
    package func bridgePath(of gateway: String, _ settings: Settings) -> String {
        bridgeSocket ?? settings.socketPath(ofGateway: gateway) ?? "/run/quickconnect/\(gateway).sock"
    }

    /// The folder for a gateway's state. A service has its own; an ordinary user's is shared by several programs.
    package func statePath(of gateway: String, _ folders: StandardFolders, _ environment: [String: String]) -> String {
        let isService = geteuid() == 0 || environment["STATE_DIRECTORY"] != nil
        return state ?? (isService ? folders.state : "\(folders.state)/\(gateway)")
    }

    /// What to log.
    package func level(_ settings: Settings) -> LogLevel {
        logLevel ?? LogLevel(rawValue: settings.logLevel) ?? .info
    }
}

extension LogLevel: ExpressibleByArgument {}
