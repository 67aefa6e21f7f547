import JSON
import QuickConnect

/// Reads a file of settings.
struct SettingsReader {
    var file: YAMLFile
    private let folder: String

    static let keys = [
        "socket", "mappings", "sounds", "media", "mediaOwners", "simulatedFolder", "pcm", "capturePCM", "gpsd", "track",
        "simulate",
        "logLevel", "audit", "sockets", "handlerCommands", "limits", "recording", "scripts",
        "vibration", "motion", "web", "kiosk", "mqtt", "procedures", "record", "data", "actions",
    ]
    static let socketKeys = ["path", "systemd", "commands", "connections", "mode", "group", "gateway", "user"]
    static let scriptKeys = [
        "folder", "cpuTime", "handlerTime", "syncTime", "memoryBytes", "sharePercent", "shareTime", "timer", "calls",
        "consoleBytes",
    ]
    static let recordingKeys = ["limit", "reserveBytes", "quotaBytes", "quotaFiles"]
    static let limitKeys = [
        "lineBytes", "depth", "connections", "callsPerConnection", "handlersPerConnection",
        "subscriptionsPerConnection", "replyBytes", "keptBytes", "stalledAfter", "shutdownAfter",
    ]

    /// - Parameter text: what the file has; nil reads it.
    init(path: String, text: String? = nil) {
        file = YAMLFile(path: path, text: text)
        folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    var mistakes: [ConfigurationMistake] { file.mistakes }

    /// - Parameter keys: what other files have set, and then this one, too.
    mutating func read(into settings: inout Settings, _ keys: inout SettingKeys) {
        guard let root = file.root() else { return }
        for (key, name, value) in file.members(root, of: "the settings", known: Self.keys) where !value.isNull {
            for twice in keys.add(name, key, value, in: file) {
                file.mistake("'\(twice.name)' is set in \(twice.first), too; remove one of the two", at: twice.node)
            }
            read(name, value, into: &settings)
        }
    }

    private mutating func read(_ name: String, _ value: YAMLNode, into settings: inout Settings) {
        switch name {
        case "socket": settings.socket = path(value, name)
        case "mappings": settings.mappings = folders(value)
        case "sounds": settings.sounds = path(value, name) ?? settings.sounds
        case "media": settings.media = path(value, name) ?? settings.media
        case "mediaOwners": settings.namedMediaOwners = path(value, name)
        case "simulatedFolder": settings.namedSimulatedFolder = path(value, name)
        case "pcm": settings.pcm = file.string(value, "'pcm'") ?? settings.pcm
        case "capturePCM": settings.capturePCM = file.string(value, "'capturePCM'") ?? settings.capturePCM
        case "gpsd": settings.gpsd = address(value) ?? settings.gpsd
        case "track": settings.track = path(value, name) ?? settings.track
        case "simulate": settings.simulate = file.bool(value, "'simulate'") ?? false
        case "logLevel": settings.logLevel = level(value) ?? settings.logLevel
        case "audit": settings.audit = file.bool(value, "'audit'") ?? true
        case "sockets": readSockets(value, into: &settings)
        case "handlerCommands": settings.handlerCommands = file.allow(value)
        case "scripts": readScripts(value, into: &settings)
        case "limits": readLimits(value, into: &settings.limits)
        case "vibration": readVibration(value, into: &settings)
        case "motion": readMotion(value, into: &settings)
        case "web": readWeb(value, into: &settings)
        case "actions": readActions(value, into: &settings)
        case "kiosk": readKiosk(value, into: &settings)
        case "mqtt": settings.mqtt = mqtt(value)
        case "procedures": file.readProcedures(value, into: &settings.procedureSettings)
        case "record": settings.procedureSettings.record = file.record(value)
        case "data": file.readData(value, into: &settings.procedureSettings)
        default: readRecording(value, into: &settings)
        }
    }

    /// Adds the sockets of this file to those of others. Each is in one file, once.
    private mutating func readSockets(_ node: YAMLNode, into settings: inout Settings) {
        guard let items = node.sequence else {
            return file.mistake("'sockets' must be a list of sockets, each a mapping", got: node)
        }
        for item in items {
            guard let socket = socket(item) else { continue }
            if let first = settings.sockets.first(where: { $0.place == socket.place }) {
                let place =
                    first.location.file == file.path
                    ? "listed twice" : "set in \(first.location), too; remove one of the two"
                file.mistake("the socket \(socket.place.name) is \(place)", at: item)
            }
            settings.sockets.append(socket)
        }
    }

    private mutating func socket(_ node: YAMLNode) -> SocketSetting? {
        var place: SocketSetting.Place?
        var socket = SocketSetting(place: .path(""), commands: [], location: file.location(node))
        let members = file.members(node, of: "a socket", known: Self.socketKeys)
        let names = Set(members.map(\.name))
        for (_, name, value) in members {
            switch name {
            case "path": place = path(value, name).map { .path($0) }
            case "systemd": place = systemdName(value).map { .systemd($0) }
            case "connections":
                socket.connections = file.integer(value, "'connections'", in: 1...60_000) ?? socket.connections
            case "mode": socket.mode = mode(value) ?? socket.mode
            case "group":
                socket.group = file.string(value, "'group'").map { Located($0, at: file.location(value)) }
            case "gateway": socket.gateway = gatewayName(value)
            case "user": socket.user = file.string(value, "'user'").map { Located($0, at: file.location(value)) }
            default: socket.commands = file.words(value, "'commands'")
            }
        }
        if names.contains("gateway") != names.contains("user") {
            file.mistake(
                "a gateway's socket needs both 'gateway', its name, and 'user', the user that it runs as",
                at: node
            )
        }
        if names.isDisjoint(with: ["path", "systemd"]) || names.isSuperset(of: ["path", "systemd"]) {
            file.mistake("a socket needs either a 'path', or 'systemd' with the name of one of systemd's", at: node)
        }
        if names.contains("systemd"), !names.isDisjoint(with: ["mode", "group"]) {
            file.mistake("'mode' and 'group' of one of systemd's sockets stand in its unit", at: node)
        }
        if !names.contains("commands") {
            file.mistake("a socket needs 'commands', the list of what it allows", at: node)
        }
        guard let place else { return nil }
        socket.place = place
        return socket
    }

    private mutating func systemdName(_ node: YAMLNode) -> String? {
        guard let name = file.string(node, "'systemd'") else { return nil }
        guard !SocketSetting.ownNames.contains(name) else {
            file.mistake("'\(name)' is the daemon's own socket, which has all commands", at: node)
            return nil
        }
        return name
    }

    /// The prefix of a gateway's users in rules: `web` in `web:ann`.
    private mutating func gatewayName(_ node: YAMLNode) -> Located<String>? {
        guard let name = file.string(node, "'gateway'") else { return nil }
        guard GatewayName.isValid(name) else {
            file.mistake("'gateway' must be a name of \(GatewayName.expectation)", got: node)
            return nil
        }
        return Located(name, at: file.location(node))
    }

    /// Permissions as chmod(1) writes them.
    private mutating func mode(_ node: YAMLNode) -> UInt32? {
        if let text = node.text, text.count <= 4, let mode = UInt32(text, radix: 8), mode & ~0o777 == 0 { return mode }
        file.mistake("'mode' must be permissions such as 0660", got: node)
        return nil
    }

    private mutating func address(_ node: YAMLNode) -> HostAndPort? {
        guard let text = file.string(node, "'gpsd'") else { return nil }
        let address = HostAndPort(text)
        if address == nil { file.mistake("'\(text)' is not \(HostAndPort.expectation)", at: node) }
        return address
    }

    private mutating func readRecording(_ node: YAMLNode, into settings: inout Settings) {
        for (_, name, value) in file.members(node, of: "'recording'", known: Self.recordingKeys)
        where !value.isNull {
            switch name {
            case "limit":
                settings.recordingLimit = file.duration(value, "'limit'")?.seconds ?? settings.recordingLimit
            case "quotaBytes":
                settings.quotaBytes = file.integer(value, "'quotaBytes'", in: 0...(1 << 50)) ?? settings.quotaBytes
            case "quotaFiles":
                settings.quotaFiles = file.integer(value, "'quotaFiles'", in: 0...1_000_000) ?? settings.quotaFiles
            default: settings.recordingReserve = file.integer(value, "'reserveBytes'", in: 0...(1 << 50))
            }
        }
    }

    private mutating func readVibration(_ node: YAMLNode, into settings: inout Settings) {
        for (_, name, value) in file.members(node, of: "'vibration'", known: ["device"]) where !value.isNull {
            settings.vibrationDevice = path(value, name)
        }
    }

    private mutating func readActions(_ node: YAMLNode, into settings: inout Settings) {
        for (_, name, value) in file.members(node, of: "'actions'", known: ["commands"]) where !value.isNull {
            settings.actionCommands = Set(file.words(value, "'\(name)'").map(\.value))
        }
    }

    private mutating func readMotion(_ node: YAMLNode, into settings: inout Settings) {
        for (_, name, value) in file.members(node, of: "'motion'", known: ["device", "matrix", "replay"])
        where !value.isNull {
            switch name {
            case "device": settings.motionDevice = file.string(value, "'device'")
            case "matrix": settings.motionMatrix = matrix(value)
            default: settings.motionTrack = path(value, name) ?? settings.motionTrack
            }
        }
    }

    /// Three rows of three numbers, not all 0.
    private mutating func matrix(_ node: YAMLNode) -> [[Double]]? {
        let rows = (node.json?.arrayValue ?? []).map { ($0.arrayValue ?? []).map { $0.numberValue ?? .nan } }
        let isMatrix = rows.count == 3 && rows.allSatisfy { $0.count == 3 && $0.allSatisfy(\.isFinite) }
        guard isMatrix, rows.contains(where: { $0.contains { $0 != 0 } }) else {
            file.mistake(
                "'matrix' must be three rows of three numbers, such as [[1, 0, 0], [0, 1, 0], [0, 0, 1]]",
                got: node
            )
            return nil
        }
        return rows
    }

    private mutating func readLimits(_ node: YAMLNode, into limits: inout Limits) {
        for (_, name, value) in file.members(node, of: "'limits'", known: Self.limitKeys) where !value.isNull {
            let what = "'\(name)'"
            switch name {
            case "lineBytes": limits.lineBytes = file.integer(value, what, in: 1024...(1 << 30)) ?? limits.lineBytes
            // With a deeper limit, the recursion of parser and writer would need more stack than a thread has.
            case "depth": limits.depth = file.integer(value, what, in: 1...4096) ?? limits.depth
            case "connections": limits.connections = file.integer(value, what, in: 1...60_000) ?? limits.connections
            case "callsPerConnection":
                limits.callsPerConnection = file.integer(value, what, in: 1...1_000_000) ?? limits.callsPerConnection
            case "handlersPerConnection":
                limits.handlersPerConnection =
                    file.integer(value, what, in: 1...1_000_000) ?? limits.handlersPerConnection
            case "subscriptionsPerConnection":
                limits.subscriptionsPerConnection =
                    file.integer(value, what, in: 1...1_000_000) ?? limits.subscriptionsPerConnection
            case "replyBytes":
                limits.replyBytes = file.integer(value, what, in: (1 << 20)...(1 << 32)) ?? limits.replyBytes
            case "keptBytes":
                limits.keptBytes = file.integer(value, what, in: (1 << 20)...(1 << 32)) ?? limits.keptBytes
            case "stalledAfter": limits.stalledSeconds = file.duration(value, what)?.seconds ?? limits.stalledSeconds
            default: limits.shutdownSeconds = file.duration(value, what)?.seconds ?? limits.shutdownSeconds
            }
        }
    }

    private mutating func readScripts(_ node: YAMLNode, into settings: inout Settings) {
        for (_, name, value) in file.members(node, of: "'scripts'", known: Self.scriptKeys) where !value.isNull {
            if name == "folder" {
                settings.scripts = path(value, name) ?? settings.scripts
            } else {
                readScriptLimit(name, value, into: &settings.scriptLimits)
            }
        }
    }

    private mutating func readScriptLimit(_ name: String, _ value: YAMLNode, into limits: inout ScriptLimits) {
        let what = "'\(name)'"
        switch name {
        case "cpuTime": limits.cpuSeconds = file.duration(value, what)?.seconds ?? limits.cpuSeconds
        case "handlerTime": limits.handlerSeconds = file.duration(value, what)?.seconds ?? limits.handlerSeconds
        case "syncTime": limits.syncSeconds = file.duration(value, what)?.seconds ?? limits.syncSeconds
        case "shareTime": limits.shareSeconds = file.duration(value, what)?.seconds ?? limits.shareSeconds
        case "timer": limits.timerSeconds = file.duration(value, what)?.seconds ?? limits.timerSeconds
        // The engine alone needs some 30 MiB.
        case "memoryBytes":
            limits.memoryBytes = file.integer(value, what, in: (48 << 20)...(1 << 40)) ?? limits.memoryBytes
        case "sharePercent": limits.sharePercent = file.integer(value, what, in: 1...6400) ?? limits.sharePercent
        case "calls": limits.calls = file.integer(value, what, in: 1...1_000_000) ?? limits.calls
        default:
            limits.consoleBytesPerSecond =
                file.integer(value, what, in: 1024...(1 << 30)) ?? limits.consoleBytesPerSecond
        }
    }

    /// A path; a relative one is relative to the file's folder.
    mutating func path(_ node: YAMLNode, _ name: String) -> String? {
        guard let text = file.string(node, "'\(name)'") else { return nil }
        guard !text.isEmpty else {
            file.mistake("'\(name)' must be a path", got: node)
            return nil
        }
        return text.hasPrefix("/") ? text : "\(folder)/\(text)"
    }

    /// One folder, or a list of them.
    private mutating func folders(_ node: YAMLNode) -> [MappingFiles.Folder] {
        let nodes = node.sequence ?? [node]
        return nodes.compactMap { path($0, "mappings") }.map { MappingFiles.Folder($0, isRequired: true) }
    }

    private mutating func level(_ node: YAMLNode) -> String? {
        guard let text = file.string(node, "'logLevel'") else { return nil }
        if !Settings.logLevels.contains(text) {
            let question = NearestNames.question(text, among: Settings.logLevels)
            file.mistake("unknown log level '\(text)'\(question)", at: node)
        }
        return text
    }
}
