import JSON
import QuickConnect

/// Reads a file of settings.
struct SettingsReader {
    var file: YAMLFile

    /// - Parameter text: what the file has; nil reads it.
    init(path: String, text: String? = nil) { file = YAMLFile(path: path, text: text) }

    var mistakes: [ConfigurationMistake] { file.mistakes }

    /// - Parameter keys: what other files have set, and then this one, too.
    mutating func read(into settings: inout Settings, _ keys: inout SettingKeys) {
        guard let root = file.root() else { return }
        let known = Self.keys
        for (key, name, value) in file.members(root, of: "the settings", known: known.map(\.name)) where !value.isNull {
            for twice in keys.add(name, key, value, in: file) {
                file.mistake("'\(twice.name)' is set in \(twice.first), too; remove one of the two", at: twice.node)
            }
            known.first { $0.name == name }?.read(&file, value, &settings)
        }
    }

    static var keys: [FileKey<Settings>] {
        [
            FileKey("socket", \.socket) { $0.socketPath($1, $2) },
            FileKey("mappings", \.mappings) { $0.folders($1, $2) },
            FileKey("sounds", \.sounds) { $0.filePath($1, $2) },
            FileKey("media", \.media) { $0.filePath($1, $2) },
            FileKey("mediaOwners", \.namedMediaOwners) { $0.filePath($1, $2) },
            FileKey("simulatedFolder", \.namedSimulatedFolder) { $0.filePath($1, $2) },
            FileKey("pcm", \.pcm) { $0.string($1, $2) },
            FileKey("capturePCM", \.capturePCM) { $0.string($1, $2) },
            FileKey("gpsd", \.gpsd) { $0.address($1, $2) },
            FileKey("position", \.position) { file, node, _ in file.position(node) },
            FileKey("track", \.track) { $0.filePath($1, $2) },
            FileKey("simulate", \.simulate) { $0.bool($1, $2) },
            FileKey("logLevel", \.logLevel) { $0.level($1, $2) },
            FileKey("audit", \.audit) { $0.bool($1, $2) },
            FileKey("sockets") { $0.readSockets($1, into: &$2) },
            FileKey("handlerCommands", \.handlerCommands) { file, node, _ in file.allow(node) },
            FileKey("scripts", \.self, keys: scriptKeys),
            FileKey("limits", \.limits, keys: limitKeys),
            FileKey("recording", \.self, keys: recordingKeys),
            FileKey("vibration", \.self, keys: [FileKey("device", \.vibrationDevice) { $0.filePath($1, $2) }]),
            FileKey("motion", \.self, keys: motionKeys),
            FileKey("web", \.web, keys: webKeys),
            FileKey("actions", \.self, keys: [FileKey("commands", \.actionCommands) { $0.names($1, $2) }]),
            FileKey("kiosk", \.kiosk, keys: kioskKeys),
            FileKey("mqtt", \.mqtt) { file, node, _ in file.mqtt(node) },
            FileKey("procedures") { $0.readProcedures($1, into: &$2.procedureSettings) },
            FileKey("record", \.procedureSettings.record) { file, node, _ in file.record(node) },
            FileKey("data", \.procedureSettings, keys: dataKeys),
        ]
    }

    static var recordingKeys: [FileKey<Settings>] {
        [
            FileKey("limit", \.recordingLimit) { $0.seconds($1, $2) },
            FileKey("reserveBytes", \.recordingReserve) { $0.integer($1, $2, in: 0...(1 << 50)) },
            FileKey("quotaBytes", \.quotaBytes) { $0.integer($1, $2, in: 0...(1 << 50)) },
            FileKey("quotaFiles", \.quotaFiles) { $0.integer($1, $2, in: 0...1_000_000) },
        ]
    }

    static var motionKeys: [FileKey<Settings>] {
        [
            FileKey("device", \.motionDevice) { $0.string($1, $2) },
            FileKey("matrix", \.motionMatrix) { file, node, _ in file.matrix(node) },
            FileKey("replay", \.motionTrack) { $0.filePath($1, $2) },
        ]
    }

    static var limitKeys: [FileKey<Limits>] {
        [
            FileKey("lineBytes", \.lineBytes) { $0.integer($1, $2, in: 1024...(1 << 30)) },
            // With a deeper limit, the recursion of parser and writer would need more stack than a thread has.
            FileKey("depth", \.depth) { $0.integer($1, $2, in: 1...4096) },
            FileKey("connections", \.connections) { $0.integer($1, $2, in: 1...60_000) },
            FileKey("callsPerConnection", \.callsPerConnection) { $0.integer($1, $2, in: 1...1_000_000) },
            FileKey("handlersPerConnection", \.handlersPerConnection) { $0.integer($1, $2, in: 1...1_000_000) },
            FileKey("subscriptionsPerConnection", \.subscriptionsPerConnection) {
                $0.integer($1, $2, in: 1...1_000_000)
            },
            FileKey("replyBytes", \.replyBytes) { $0.integer($1, $2, in: (1 << 20)...(1 << 32)) },
            FileKey("keptBytes", \.keptBytes) { $0.integer($1, $2, in: (1 << 20)...(1 << 32)) },
            FileKey("stalledAfter", \.stalledSeconds) { $0.seconds($1, $2) },
            FileKey("shutdownAfter", \.shutdownSeconds) { $0.seconds($1, $2) },
        ]
    }

    static var scriptKeys: [FileKey<Settings>] {
        [
            FileKey("folder", \.scripts) { $0.filePath($1, $2) },
            FileKey("cpuTime", \.scriptLimits.cpuSeconds) { $0.seconds($1, $2) },
            FileKey("handlerTime", \.scriptLimits.handlerSeconds) { $0.seconds($1, $2) },
            FileKey("syncTime", \.scriptLimits.syncSeconds) { $0.seconds($1, $2) },
            FileKey("shareTime", \.scriptLimits.shareSeconds) { $0.seconds($1, $2) },
            FileKey("timer", \.scriptLimits.timerSeconds) { $0.seconds($1, $2) },
            // The engine alone needs some 30 MiB.
            FileKey("memoryBytes", \.scriptLimits.memoryBytes) { $0.integer($1, $2, in: (48 << 20)...(1 << 40)) },
            FileKey("sharePercent", \.scriptLimits.sharePercent) { $0.integer($1, $2, in: 1...6400) },
            FileKey("calls", \.scriptLimits.calls) { $0.integer($1, $2, in: 1...1_000_000) },
            FileKey("consoleBytes", \.scriptLimits.consoleBytesPerSecond) { $0.integer($1, $2, in: 1024...(1 << 30)) },
        ]
    }

    static var socketKeys: [FileKey<SocketSetting>] {
        [
            FileKey("path", \.place) { $0.socketPath($1, $2).map { .path($0) } },
            FileKey("systemd", \.place) { $0.systemdName($1, $2).map { .systemd($0) } },
            FileKey("connections", \.connections) { $0.integer($1, $2, in: 1...60_000) },
            FileKey("mode", \.mode) { file, node, _ in file.mode(node) },
            FileKey("group", \.group) { $0.located($1, $2) },
            FileKey("gateway", \.gateway) { $0.gatewayName($1, $2) },
            FileKey("user", \.user) { $0.located($1, $2) },
            FileKey("commands", \.commands) { $0.words($1, $2) },
        ]
    }
}

extension YAMLFile {
    /// Adds the sockets of this file to those of others. Each is in one file, once.
    fileprivate mutating func readSockets(_ node: YAMLNode, into settings: inout Settings) {
        guard let items = node.sequence else {
            return mistake("'sockets' must be a list of sockets, each a mapping", got: node)
        }
        for item in items {
            guard let socket = socket(item) else { continue }
            if let first = settings.sockets.first(where: { $0.place == socket.place }) {
                let place = "is set in \(first.location), too; remove one of the two"
                mistake("the socket \(socket.place.name) \(place)", at: item)
            }
            settings.sockets.append(socket)
        }
    }

    fileprivate mutating func socket(_ node: YAMLNode) -> SocketSetting? {
        var socket = SocketSetting(place: .path(""), commands: [], location: location(node))
        let names = read(node, of: "a socket", SettingsReader.socketKeys, into: &socket)
        if names.contains("gateway") != names.contains("user") {
            mistake(
                "a gateway's socket needs both 'gateway', its name, and 'user', the user that it runs as",
                at: node
            )
        }
        if names.isDisjoint(with: ["path", "systemd"]) || names.isSuperset(of: ["path", "systemd"]) {
            mistake("a socket needs either a 'path', or 'systemd' with the name of one of systemd's", at: node)
        }
        if names.contains("systemd"), !names.isDisjoint(with: ["mode", "group"]) {
            mistake("'mode' and 'group' of one of systemd's sockets stand in its unit", at: node)
        }
        if !names.contains("commands") {
            mistake("a socket needs 'commands', the list of what it allows", at: node)
        }
        return socket.place == .path("") ? nil : socket
    }

    fileprivate mutating func names(_ node: YAMLNode, _ what: String) -> Set<String> {
        Set(words(node, what).map(\.value))
    }

    fileprivate mutating func systemdName(_ node: YAMLNode, _ what: String) -> String? {
        guard let name = string(node, what) else { return nil }
        guard !SocketSetting.ownNames.contains(name) else {
            mistake("'\(name)' is the daemon's own socket, which has all commands", at: node)
            return nil
        }
        return name
    }

    /// The prefix of a gateway's users in rules: `web` in `web:ann`.
    fileprivate mutating func gatewayName(_ node: YAMLNode, _ what: String) -> Located<String>? {
        guard let name = string(node, what) else { return nil }
        guard GatewayName.isValid(name) else {
            mistake("'gateway' must be a name of \(GatewayName.expectation)", got: node)
            return nil
        }
        guard name != PlannedCall.gateway else {
            mistake("'\(name)' cannot be a gateway's name: it stands before the names of schedules in rules", at: node)
            return nil
        }
        return Located(name, at: location(node))
    }

    /// Permissions as chmod(1) writes them.
    fileprivate mutating func mode(_ node: YAMLNode) -> UInt32? {
        if let text = node.text, text.count <= 4, let mode = UInt32(text, radix: 8), mode & ~0o777 == 0 { return mode }
        mistake("'mode' must be permissions such as 0660", got: node)
        return nil
    }

    fileprivate mutating func address(_ node: YAMLNode, _ what: String) -> HostAndPort? {
        guard let text = string(node, what) else { return nil }
        let address = HostAndPort(text)
        if address == nil { mistake("'\(text)' is not \(HostAndPort.expectation)", at: node) }
        return address
    }

    /// `{latitude: 53.35, longitude: -6.26}`, in degrees.
    fileprivate mutating func position(_ node: YAMLNode) -> (latitude: Double, longitude: Double)? {
        var degrees: (latitude: Double, longitude: Double) = (.nan, .nan)
        let keys: [FileKey<(latitude: Double, longitude: Double)>] = [
            FileKey("latitude", \.latitude) { $0.number($1, $2) },
            FileKey("longitude", \.longitude) { $0.number($1, $2) },
        ]
        _ = read(node, of: "'position'", keys, into: &degrees)
        guard abs(degrees.latitude) <= 90, abs(degrees.longitude) <= 180 else {
            mistake("'position' must be degrees, such as {latitude: 53.35, longitude: -6.26}", got: node)
            return nil
        }
        return degrees
    }

    /// Three rows of three numbers, not all 0.
    fileprivate mutating func matrix(_ node: YAMLNode) -> [[Double]]? {
        let rows = (node.json?.arrayValue ?? []).map { ($0.arrayValue ?? []).map { $0.numberValue ?? .nan } }
        let isMatrix = rows.count == 3 && rows.allSatisfy { $0.count == 3 && $0.allSatisfy(\.isFinite) }
        guard isMatrix, rows.contains(where: { $0.contains { $0 != 0 } }) else {
            mistake(
                "'matrix' must be three rows of three numbers, such as [[1, 0, 0], [0, 1, 0], [0, 0, 1]]",
                got: node
            )
            return nil
        }
        return rows
    }

    /// One folder, or a list of them.
    fileprivate mutating func folders(_ node: YAMLNode, _ what: String) -> [MappingFiles.Folder] {
        let nodes = node.sequence ?? [node]
        return nodes.compactMap { filePath($0, what) }.map { MappingFiles.Folder($0, isRequired: true) }
    }

    fileprivate mutating func level(_ node: YAMLNode, _ what: String) -> String? {
        guard let text = string(node, what) else { return nil }
        if !Settings.logLevels.contains(text) {
            let question = NearestNames.question(text, among: Settings.logLevels)
            mistake("unknown log level '\(text)'\(question)", at: node)
        }
        return text
    }
}
