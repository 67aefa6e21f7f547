import Glibc
import JSON
import Linux

/// The files of `quickconnect setup home`.
struct HomePlan {
    static let group = "home"

    /// What pages may call. Not in it: what changes the daemon, other people's data, or who may do what (reload, data,
    /// simulate, web, mqtt), and what only the window and gateways call (kioskNavigation, actFor).
    static let commands = [
        "accel", "can", "cancel", "commands", "doctor", "execute", "explain", "handlers", "hello", "innerProgress",
        "kiosk", "loc", "location", "logMessage", "macro", "macroError", "media", "middleProgress", "nearby",
        "outerProgress", "ping", "play", "playSound", "post", "procedures", "rec", "registerHandler",
        "removeHandler", "sendPickResults", "showDate", "showList", "sounds", "state", "stop", "subscribe",
        "unsubscribe", "vibrate", "volume",
    ]
    /// What a person at home may do with the kiosk's window.
    private static let verbs = ["state", "reload", "home", "open", "zoom", "call", "reset"]

    private let place: SetupPlace
    /// The gateway's socket, where systemd makes none.
    private let socket: String
    private let watches: Bool

    init(_ place: SetupPlace, socket: String?, watches: Bool) {
        self.place = place
        self.watches = watches
        let named = socket ?? OwnProcess.environment["QUICKCONNECT_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        let beside = Folders.parent(of: Folders.absolute(named ?? StandardFolders().socket)) ?? "/"
        self.socket = "\(named == nil && !FileText.exists(beside) ? place.folder : beside)/quickconnect-web.sock"
    }

    private static let mapping = "/setup-home.yaml"

    /// Whether a daemon has read the rules for the window, by the places that it tells of `kiosk`.
    static func isRead(_ places: JSONValue?) -> Bool {
        places?.arrayValue?.contains { $0.stringValue?.contains("\(mapping):") ?? false } ?? true
    }

    private var settings: String { "\(place.folder)/settings.d/setup-home.yaml" }
    private static let networkMark = "# Network: "

    /// The interface whose network the pages were opened to before.
    var earlierNetwork: String? {
        guard case .success(let text) = FileText.read(settings, maximumBytes: 1 << 20) else { return nil }
        return text.split(separator: "\n").first { $0.hasPrefix(Self.networkMark) }
            .map { String($0.dropFirst(Self.networkMark.count)) }
    }

    /// The people among all users, by the gateway's answer or its file.
    static func people(_ users: JSONValue) -> [String] {
        (users.arrayValue ?? []).compactMap(\.objectValue)
            .filter { $0["groups"]?.arrayValue?.contains(.string(group)) ?? false }
            .compactMap { $0["name"]?.stringValue }
    }

    /// The people whom the gateway will know when it is started.
    var peopleOnDisk: [String] {
        let environment = OwnProcess.environment
        let isService = geteuid() == 0 || environment["STATE_DIRECTORY"] != nil
        let state = StandardFolders(
            isRoot: geteuid() == 0,
            environment: environment,
            program: OwnProcess.program,
            service: "quickconnect-web"
        )
        .state
        guard
            case .success(let text) = FileText.read(
                "\(isService ? state : "\(state)/web")/users.json",
                maximumBytes: 1 << 22
            ),
            let users = try? JSONParser.parse(text)
        else { return [] }
        return Self.people(users)
    }

    func files(_ network: LocalNetwork?) -> SetupFiles {
        var files = SetupFiles("home")
        files.add(settings, settingsText(network))
        if let mappings = place.mappings { files.add("\(mappings)\(Self.mapping)", Self.rules) }
        if place.units != nil {
            let units = "/etc/systemd/system/quickconnect-web"
            let listen = "[Socket]\nListenStream=\nListenStream=0.0.0.0:8467"
            files.add("\(units).socket.d/home.conf", network.map { _ in listen })
            files.add("\(units).service.d/home.conf", network.map { "[Service]\nIPAddressAllow=\($0.subnet)" })
        }
        return files
    }

    private func settingsText(_ network: LocalNetwork?) -> String {
        let isByHand = place.units == nil
        let user =
            isByHand ? getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "root" : "quickconnect-web"
        var lines = network.map { [Self.networkMark + $0.interface] } ?? []
        lines += [
            "sockets:", "  - \(isByHand ? "path: \(JSONValue.string(socket).text)" : "systemd: web")",
            "    gateway: web",
            "    user: \(user)", "    connections: 1024",
            "    commands: [\(Self.commands.joined(separator: ", "))]",
        ]
        var web = watches ? ["watch: true"] : []
        if network != nil {
            if isByHand { web.append("listen: 0.0.0.0:8467") }
            web.append("names: [\(Self.hostName).local]")
        }
        if !web.isEmpty { lines.append("web: {\(web.joined(separator: ", "))}") }
        return lines.joined(separator: "\n")
    }

    private static let rules = """
        # Not evaluate, cookies and setCookie, which reach more than the window shows.
        kiosk:
          verbs:

        """ + verbs.map { "    \($0): {groups: [\"web:\(group)\"]}" }.joined(separator: "\n")

    private static var hostName: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
        let name = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return name.split(separator: ".").first.map { $0.lowercased() } ?? "localhost"
    }

    /// What is left to do where systemd does not run the programs.
    var byHand: String {
        """
        Start the daemon and the gateway (again), and then this command once more, which checks them and prints a log-in:
          \(place.variable)quickconnectd --config \(place.config.shellWord) &
          \(place.variable)quickconnect-web --config \(place.config.shellWord) &
        """
    }
}
