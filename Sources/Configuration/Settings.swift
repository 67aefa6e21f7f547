package import Linux
package import QuickConnect

/// All settings of the daemon, with their defaults. docs/configuration.md describes each.
package struct Settings: Sendable {
    /// The socket to make; nil: the one that systemd passes, or the user's default.
    package var socket: String?
    /// Further sockets, with fewer commands.
    package var sockets: [SocketSetting] = []
    package var mappings: [MappingFiles.Folder]
    package var sounds: String
    package var media: String
    /// The folder for simulated sound: beside the media folder unless set.
    package var simulatedFolder: String { namedSimulatedFolder ?? StandardFolders.simulated(beside: media) }
    var namedSimulatedFolder: String?
    /// The file of values that are kept over restarts.
    package var values: String { StandardFolders.values(beside: media) }
    /// What is kept of schedules over restarts.
    package var schedules: String { StandardFolders.schedules(beside: media) }
    /// Where the device is, in degrees, north and east positive; nil: where its receiver says.
    package var position: (latitude: Double, longitude: Double)?
    /// The index of the owners of media files: beside the media folder unless set.
    package var mediaOwners: String { namedMediaOwners ?? StandardFolders.owners(beside: media) }
    var namedMediaOwners: String?
    package var pcm = "default"
    package var capturePCM = "default"
    package var gpsd = HostAndPort(host: "localhost", port: "2947")
    /// The track that the simulated position follows.
    package var track: String
    /// The event device whose motor vibrates; nil: the first that can.
    package var vibrationDevice: String?
    /// The IIO device that measures motion, by its name or as `iio:device0`; nil: the first that can.
    package var motionDevice: String?
    /// Three rows of three numbers, applied to the accelerometer's values after its own mount matrix.
    package var motionMatrix: [[Double]]?
    /// The track that the simulated motion follows.
    package var motionTrack: String
    package var simulate = false
    /// A level of swift-log, from `trace` to `critical`.
    package var logLevel = "info"
    /// Whether each call that touches a device is logged.
    package var audit = true
    /// Who may register handlers as commands of their own, in addition to root and the daemon's own user; nil: the user
    /// ``scriptUser``, if it exists.
    package var handlerCommands: MappingDeclaration.Allow?
    /// The user that the service quickconnect-scripts runs as. Its scripts are the owner's.
    package static let scriptUser = Caller.scriptUser
    package var limits = Limits()
    /// The longest duration of a recording that sets none, in seconds.
    package var recordingLimit = 600.0
    /// Bytes that recordings leave free; nil: 64 MiB, or a twentieth of a small disk.
    package var recordingReserve: Int?
    /// The quota of each caller in the media folder, including files being recorded or uploaded.
    package var quotaBytes = 1 << 30
    package var quotaFiles = 1000

    /// The folder of the scripts that the script host runs.
    package var scripts: String
    package var scriptLimits = ScriptLimits()
    /// Stored procedures, and the data stored for them.
    package var procedureSettings = ProcedureSettings()

    /// The commands that actions may call, wherever they run.
    package var actionCommands: Set<String> = ["logMessage", "sounds", "playSound", "play"]

    /// How quickconnect-web serves pages.
    package var web = WebSettings()
    /// What quickconnect-kiosk shows, and what its page may do.
    package var kiosk = KioskSettings()

    /// How quickconnect-mqtt connects to a broker; nil: it does not.
    package var mqtt: MQTTSettings?

    /// The files that were read.
    package internal(set) var files: [String] = []

    /// What the files set, by key, as `kiosk.zoom`.
    package internal(set) var given: [String: String] = [:]

    /// The keys that other settings set otherwise, and that the daemon reads only when it starts, sorted.
    package func changes(in other: Settings) -> [String] {
        var keys = Set(given.keys).union(other.given.keys).filter { given[$0] != other.given[$0] && !Self.isLive($0) }
        let isSame =
            sockets.count == other.sockets.count
            && sockets.allSatisfy { socket in other.sockets.contains { $0.makesSame(as: socket) } }
        if !isSame { keys.insert("sockets") }
        return keys.sorted()
    }

    /// The program that reads a key, when it starts.
    package static func reader(of key: String) -> String {
        switch key.prefix(while: { $0 != "." }) {
        case "record", "data", "procedures": "quickconnect-data"
        case "scripts": "quickconnect-scripts"
        case "web": "quickconnect-web"
        case "mqtt": "quickconnect-mqtt"
        default: "quickconnectd"
        }
    }

    /// Which programs are to be restarted for changed keys, in a sentence for each, with the line to type where systemd has it.
    package static func restarts(for keys: [String]) -> [String] {
        Dictionary(grouping: keys, by: reader).sorted { $0.key < $1.key }.map { program, keys in
            let fix = ServiceManager.restart(program).map { ": «\($0)»" } ?? ""
            return "a restart of \(program) takes up the changed settings \(keys.joined(separator: ", "))\(fix)"
        }
    }

    /// Whether a reload takes a key up.
    private static func isLive(_ key: String) -> Bool {
        // The window takes up its own.
        ["audit", "handlerCommands", "logLevel"].contains(key) || key.hasPrefix("kiosk.")
            || key.hasPrefix("limits.") && key != "limits.depth"
    }

    package static let logLevels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]

    /// What flags and the environment may set.
    package enum Override: String, CaseIterable, Sendable {
        case config = "CONFIG"
        case socket = "SOCKET"
        case mappings = "MAPPINGS"
        case sounds = "SOUNDS"
        case scripts = "SCRIPTS"
        case media = "MEDIA"
        case pcm = "PCM"
        case capturePCM = "CAPTURE_PCM"
        case gpsd = "GPSD"
        case simulate = "SIMULATE"
        case logLevel = "LOG_LEVEL"

        var variable: String { "QUICKCONNECT_\(rawValue)" }
        var flag: String { "--\(rawValue.lowercased().replacing("_", with: "-"))" }
    }

    /// Their texts, each nil if not given.
    package typealias Overrides = [Override: String?]

    /// The settings from all sources: flags override environment variables, which override the files, which override the defaults.
    package static func load(
        flags: Overrides,
        environment: [String: String],
        folders: StandardFolders
    ) throws(ConfigurationMistakes) -> Settings {
        let (settings, mistakes) = read(flags: flags, environment: environment, folders: folders)
        guard mistakes.isEmpty else { throw ConfigurationMistakes(mistakes) }
        return settings
    }

    /// The settings, and their mistakes; a setting with a mistake has its default.
    package static func read(
        flags: Overrides,
        environment: [String: String],
        folders: StandardFolders
    ) -> (settings: Settings, mistakes: [ConfigurationMistake]) {
        var mistakes = [folders.problem].compactMap { $0 }.map { ConfigurationMistake($0, at: .outside("HOME")) }
        // An empty variable is ignored.
        let variable = { (key: Override) in environment[key.variable].flatMap { $0.isEmpty ? nil : $0 } }
        let flag = { (key: Override) in flags[key] ?? nil }
        var settings = Settings(folders)
        let named = flag(.config) ?? variable(.config)
        var files = SettingsFiles(main: named ?? folders.config, isNamed: named != nil)
        files.read(into: &settings)
        mistakes += files.mistakes
        settings.apply(variable, \.variable, &mistakes)
        settings.apply(flag, \.flag, &mistakes)
        // Replies contain paths in it, and their readers may be in another folder.
        settings.media = Folders.absolute(settings.media)
        return (settings, mistakes)
    }

    /// The defaults.
    package init(_ folders: StandardFolders) {
        mappings = folders.mappings.map { MappingFiles.Folder($0, isRequired: false) }
        sounds = folders.sounds
        track = folders.track
        motionTrack = folders.motionTrack
        scripts = folders.scripts
        media = folders.media
    }

    /// - Parameters:
    ///   - given: what sets each of these; nil: nothing.
    ///   - name: what mistakes call it.
    private mutating func apply(
        _ given: (Override) -> String?,
        _ name: (Override) -> String,
        _ mistakes: inout [ConfigurationMistake]
    ) {
        for key in Override.allCases {
            guard let text = given(key) else { continue }
            var problem: String?
            switch key {
            case .config: break
            case .socket: socket = text
            case .mappings: mappings = [MappingFiles.Folder(text, isRequired: true)]
            case .sounds: sounds = text
            case .scripts: scripts = text
            case .media: media = text
            case .pcm: pcm = text
            case .capturePCM: capturePCM = text
            case .gpsd:
                let address = HostAndPort(text)
                gpsd = address ?? gpsd
                if address == nil { problem = "'\(text)' is not \(HostAndPort.expectation)" }
            case .simulate:
                switch text {
                case "1", "true", "yes": simulate = true
                case "0", "false", "no": simulate = false
                default: problem = "'\(text)' is neither 1 nor 0"
                }
            case .logLevel:
                logLevel = text
                let question = NearestNames.question(text, among: Self.logLevels)
                if !Self.logLevels.contains(text) { problem = "unknown log level '\(text)'\(question)" }
            }
            if let problem { mistakes.append(ConfigurationMistake(problem, at: .outside(name(key)))) }
        }
    }
}

extension Settings {
    /// The settings of a program that a user has started for the system's daemon: those of the user's own files if there
    /// are any, otherwise the owner's.
    package static func ofUser(
        flags: Overrides,
        environment: [String: String],
        folders: StandardFolders
    ) throws(ConfigurationMistakes) -> Settings {
        var folders = folders
        if !exist(at: folders.config) { folders.config = "/etc/quickconnect/quickconnectd.yaml" }
        return try load(flags: flags, environment: environment, folders: folders)
    }

    /// Whether there is any file of settings.
    /// - Parameter main: the path of the main one.
    package static func exist(at main: String) -> Bool { SettingsFiles.exist(at: main) }
}
