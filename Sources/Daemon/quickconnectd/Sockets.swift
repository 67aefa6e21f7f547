import Configuration
import Linux
import QuickConnect

/// Which sockets the daemon listens on: its own, and those of the setting `sockets`.
struct Sockets: Sendable {
    private let settings: Settings
    private let accounts: SystemAccounts
    private let environment: [String: String]
    private let defaultSocket: String
    /// One for each entry of the setting.
    private let rules: [SocketRule]

    init(
        _ settings: Settings,
        _ accounts: SystemAccounts,
        _ environment: [String: String] = [:],
        defaultSocket: String = ""
    ) {
        self.settings = settings
        self.accounts = accounts
        self.environment = environment
        self.defaultSocket = defaultSocket
        rules = settings.sockets.map { $0.rule(accounts) }
    }

    /// Users and groups that this device does not have.
    var mistakes: [ConfigurationMistake] { settings.sockets.flatMap { $0.mistakes(accounts) } }

    /// The sockets of gateways.
    var gateways: [SocketRule] { rules.filter { $0.gateway != nil } }

    /// Takes up the lists of other settings, for sockets that both have.
    func adoptLists(of other: Settings) {
        for (setting, rule) in zip(settings.sockets, rules) {
            guard let new = other.sockets.first(where: { $0.place == setting.place }) else { continue }
            rule.replaceList(new.commands.map(\.value), at: new.location)
        }
    }

    /// Takes those that systemd passes, and makes the others.
    /// - Parameter tell: gets a message for each socket without an entry in the settings.
    func endpoints(report: (String) -> Void = { _ in }) throws -> [UnixSocketListener.Endpoint] {
        guard mistakes.isEmpty else { throw ConfigurationMistakes(mistakes) }
        let passed = ListeningSocket.passedBySystemd(environment: environment)
        var endpoints: [UnixSocketListener.Endpoint] = []
        var own: [ListeningSocket] = []
        for socket in passed {
            if let index = settings.sockets.firstIndex(where: { $0.place == .systemd(socket.name) }) {
                endpoints.append(.init(socket: socket, rule: rules[index]))
            } else if SocketSetting.ownNames.contains(socket.name) {
                own.append(socket)
            } else {
                endpoints.append(unnamed(socket, report))
            }
        }
        endpoints += try zip(settings.sockets, rules).compactMap { try made($0, $1) }
        // A socket from systemd is served even if the settings name another path, because clients wait there.
        let path = settings.socket ?? (own.isEmpty ? defaultSocket : nil)
        if let path, !own.contains(where: { $0.path == path }) {
            // After a boot the folder of the default path may be missing. An owner who names a path must create its
            // folder.
            own.append(try ListeningSocket.bind(path: path, makesFolder: path == defaultSocket))
        }
        return own.map { .init(socket: $0) } + endpoints
    }

    /// The endpoint of a socket without an entry. After a typo in its name, a socket for guests must not allow
    /// everything, but must not prevent the daemon from starting either.
    private func unnamed(_ socket: ListeningSocket, _ report: (String) -> Void) -> UnixSocketListener.Endpoint {
        let name = socket.name
        report("systemd passed a socket named '\(name)', which no entry of 'sockets' has; it denies every call")
        let place = SourceLocation.outside("no entry of 'sockets' has systemd: \(name)")
        return .init(socket: socket, rule: SocketRule(name: name, commands: [], connections: 16, location: place))
    }

    private func made(_ setting: SocketSetting, _ rule: SocketRule) throws -> UnixSocketListener.Endpoint? {
        guard case .path(let path) = setting.place else { return nil }
        let socket = try ListeningSocket.bind(path: path, mode: setting.mode)
        if let group = setting.group, let id = accounts.gid(ofGroup: group.value) {
            do throws(PlainError) { try socket.give(to: id) } catch {
                socket.unlink()
                let remedy = "let systemd make this socket, with SocketGroup=\(group.value)"
                throw Self.mistake("\(error); \(remedy)", at: group.location)
            }
        }
        return UnixSocketListener.Endpoint(socket: socket, rule: rule)
    }

    private static func mistake(_ text: String, at location: SourceLocation) -> ConfigurationMistakes {
        ConfigurationMistakes([ConfigurationMistake(text, at: location)])
    }
}

extension SocketSetting {
    /// Slips on the list: commands that no mapping has, where handlers and events may still come.
    func warnings(_ table: MappingTable) -> [ConfigurationMistake] {
        commands.filter { table[$0.value] == nil }.compactMap { command -> ConfigurationMistake? in
            if let name = PlannedCall.schedule(ofCaller: command.value) {
                let schedules = table.entries.filter { $0.kind == .schedule }.map(\.command)
                let near = NearestNames.question(name, among: schedules)
                let says =
                    table[name]?.kind == .schedule
                    ? "'\(command.value)' is a caller; the command of that schedule is '\(name)'"
                    : "no file declares the schedule '\(name)'\(near); on a list it stands without 'schedule:'"
                return ConfigurationMistake(says, at: command.location)
            }
            let words = command.value.split(whereSeparator: \.isWhitespace).map(String.init)
            if words.count > 1, words.allSatisfy({ table[$0] != nil }) {
                let says =
                    "no command '\(command.value)' is mapped; write a comma between the names: \(words.joined(separator: ", "))"
                return ConfigurationMistake(says, at: command.location)
            }
            // Nobody need declare an event: only a slip is told.
            let near = NearestNames.question(command.value, among: table.entries.map(\.command))
            guard !near.isEmpty, !DaemonEvents.names.contains(command.value) else { return nil }
            return ConfigurationMistake(
                "no command '\(command.value)' is mapped, which is right for an event\(near)",
                at: command.location
            )
        }
    }
}
