import Configuration
import Glibc
import JSON
import Linux
import Logging
import QuickConnect
import QuickConnectClient

/// Implements `quickconnectd --doctor`: checks everything that the daemon would use, without a daemon, even if the
/// daemon could not start.
struct Doctor {
    let flags: Settings.Overrides
    let environment: [String: String]
    let folders: StandardFolders
    let journal: Journal

    func report() async -> DoctorReport {
        var findings: [Finding] = []
        let settings = loadSettings(&findings)
        findings.append(examineMappings(settings))
        findings.append(examineSocket(settings))
        let logger = Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() }
        let devices = Devices(settings, sounds: settings.sounds) { _ in logger }
        let report = await DoctorReport(of: devices.examined(environment), thoroughly: false)
        await devices.close()
        return DoctorReport(findings + report.findings)
    }

    /// The settings; where they hold mistakes, the defaults, so that the devices can be looked at all the same.
    private func loadSettings(_ findings: inout [Finding]) -> Settings {
        do throws(ConfigurationMistakes) {
            let settings = try Settings.load(flags: flags, environment: environment, folders: folders)
            findings.append(Finding("settings", .ok, "the settings are valid"))
            return settings
        } catch {
            findings.append(finding("settings", error))
            return Settings(folders)
        }
    }

    private func examineMappings(_ settings: Settings) -> Finding {
        do throws(ConfigurationMistakes) {
            let count = try Daemon(settings, journal: journal).loadTable().table.count
            let says = "the mappings are valid; they define \(count) commands, in \(settings.mappingFolders)"
            return Finding("mappings", .ok, says)
        } catch {
            return finding("mappings", error)
        }
    }

    private func finding(_ subject: String, _ mistakes: ConfigurationMistakes) -> Finding {
        let file = mistakes.mistakes.first?.location.file
        let count = mistakes.mistakes.count
        let says = "the daemon does not start: they contain \(count == 1 ? "a mistake" : "\(count) mistakes")"
        let fix = file.flatMap { access($0, F_OK) == 0 ? "sudoedit \($0.shellWord)" : nil }
        return Finding(
            subject,
            .error,
            says,
            tried: mistakes.mistakes.map(\.description),
            fix: fix,
            inspect: fix == nil ? "quickconnectd --help" : nil
        )
    }

    private func examineSocket(_ settings: Settings) -> Finding {
        let path = settings.socket ?? folders.socket
        do throws(SystemCallError) {
            _ = try DaemonConnection(path: path, before: .now + .seconds(2))
            return Finding("daemon", .ok, "a daemon answers on \(path)")
        } catch {
            guard error.code == EACCES else {
                let says = "no daemon answers on \(path): \(error)"
                return Finding(
                    "daemon",
                    .warning,
                    says,
                    fix: ServiceManager.command("start quickconnectd") ?? "quickconnectd"
                )
            }
            let says = "this user may not connect to the daemon on \(path): \(error)"
            let fix = SocketPaths.commandToJoin(path)
            return Finding("daemon", .error, says, fix: fix, inspect: fix == nil ? "ls -l \(path.shellWord)" : nil)
        }
    }
}

extension Settings {
    /// The folders of mappings that are there, in the order in which they are read.
    var mappingFolders: String {
        let folders = mappings.map(\.path).filter(FileText.exists)
        return folders.isEmpty ? "no folder" : folders.joined(separator: " and ")
    }
}

/// What a running daemon says of itself.
struct DaemonDoctor: Examined {
    let memory: PeerMemory
    let mappings: String
    /// Looked up once: that may block.
    private let user = SystemAccounts().name(ofUser: geteuid())

    /// What knows of changed files and settings.
    let reloader: Reloader?

    func examine(thoroughly isThorough: Bool) async -> [Finding] {
        let process = "quickconnectd \(ProjectVersion.text) runs as \(user), process \(getpid())"
        let says = "\(process), with the mappings in \(mappings)"
        return [Finding("daemon", .ok, says)] + waiting + kept
    }

    private var waiting: [Finding] {
        // The data service knows itself what has changed since it was started.
        let keys = Dictionary(grouping: reloader?.restart ?? [], by: Settings.reader).filter {
            $0.key != "quickconnect-data"
        }
        return keys.sorted { $0.key < $1.key }.map { program, keys in
            let says = "the settings have changed since the start of \(program): \(keys.joined(separator: ", "))"
            return Finding("settings", .warning, says, fix: ServiceManager.restart(program))
        }
    }

    /// Who holds how much of the daemon's memory, where it is worth a line.
    private var kept: [Finding] {
        let use = memory.use
        guard use.used >= 1 << 20 else { return [] }
        let peers = use.largest.prefix(3).map { "\($0.peer.text) \(Self.mebibytes($0.used))" }.joined(separator: ", ")
        let says = """
            the daemon keeps \(Self.mebibytes(use.used)) of \(Self.mebibytes(use.limit)) for callers that have not ended \
            their lines or read their replies, or wait: \(peers)
            """
        let isFull = use.used > use.limit / 2
        return [Finding("memory", isFull ? .warning : .ok, says, inspect: isFull ? "quickconnect call state" : nil)]
    }

    private static func mebibytes(_ bytes: Int) -> String {
        "\(bytes >> 20).\((bytes & 0xFFFFF) * 10 >> 20) MiB"
    }
}

/// Says which files are not what the daemon has read.
struct FilesDoctor: Examined {
    let topic: String? = "files"
    let reloader: Reloader?
    /// A finding names this many files.
    private static let maxFiles = 5

    func examine(thoroughly isThorough: Bool) async -> [Finding] {
        let files = await reloader?.unread() ?? []
        guard !files.isEmpty else { return [] }
        let more = files.count > Self.maxFiles ? " and \(files.count - Self.maxFiles) more" : ""
        let says = "changed since the daemon has read its files: \(files.prefix(Self.maxFiles).joined(separator: ", "))"
        return [Finding("files", .warning, says + more, fix: "quickconnect call reload")]
    }
}

/// Says that nothing is recorded, where the settings say what is to be, and no service does it.
struct RecordingDoctor: Examined {
    let reloader: Reloader?
    /// Whether the service of procedures runs, which records.
    let isAnswered: @Sendable () -> Bool

    func examine(thoroughly isThorough: Bool) async -> [Finding] {
        guard !isAnswered() else { return [] }
        let events = await reloader?.recorded() ?? []
        guard !events.isEmpty else { return [] }
        let program = "quickconnect-scripts"
        let says =
            "nothing records \(events.joined(separator: ", ")) ('record' in the settings): no service of procedures runs"
        let start = ServiceManager.start("quickconnect-data") ?? "\(program) --procedures"
        return [
            Finding(
                "data",
                .warning,
                says,
                fix: Program.isInstalled(program) ? start : "sudo apt install \(program)"
            )
        ]
    }
}

/// Says which events and values the settings list that nobody declares, and whose names are nearly those of others. A client
/// may post any event, so that others may be right.
struct NamesDoctor: Examined {
    private let lists: [(key: String, names: [String], isOfValues: Bool)]
    private let entries: @Sendable () -> [MappingEntry]

    init(_ settings: Settings, _ entries: @escaping @Sendable () -> [MappingEntry]) {
        self.entries = entries
        lists = [
            ("record", settings.procedureSettings.record.map(\.event), false),
            ("mqtt.events", settings.mqtt?.events.map(\.name) ?? [], false),
            ("mqtt.values", settings.mqtt?.values ?? [], true),
        ]
    }

    var mistakes: [ConfigurationMistake] {
        let entries = entries()
        return lists.flatMap { key, names, isOfValues in
            let declared = entries.filter { isOfValues ? $0.kind == .value : $0.kind != .stack }.map(\.command)
            let known = declared + (isOfValues ? [] : DaemonEvents.names)
            return names.filter { !known.contains($0) }.compactMap { name in
                let near = NearestNames.question(name, among: known)
                let says = "no file declares the \(isOfValues ? "value" : "event") '\(name)'\(near)"
                return near.isEmpty ? nil : ConfigurationMistake(says, at: .outside("'\(key)'"))
            }
        }
    }

    func examine(thoroughly isThorough: Bool) async -> [Finding] {
        mistakes.map { Finding("settings", .warning, "\($0)") }
    }
}

/// Says which of the owner's entries the users of gateways may reach, and why: by its own rule, or by the list of the gateway's
/// socket.
struct GatewayDoctor: Examined {
    /// The rules of the gateways' sockets.
    let sockets: [SocketRule]
    /// The folder of the shipped mappings; nil where no other folder has the owner's.
    let shipped: String?
    let entries: @Sendable () -> [MappingEntry]

    /// A finding names this many.
    private static let maxNames = 20

    func examine(thoroughly isThorough: Bool) async -> [Finding] {
        let own = entries().filter { $0.isOwn || shipped == nil }.sorted { $0.command < $1.command }
        return sockets.compactMap { reached(own, by: $0) }
            + missing.map { Finding("gateways", .warning, $0.says, tried: $0.places.map(\.description)) }
            + unlisted.map { Finding("gateways", .warning, "\($0)") }
    }

    /// Rules for the users of a gateway whose list has not what they let them call, with what mends it.
    var unlisted: [ConfigurationMistake] {
        entries().sorted { $0.command < $1.command }.flatMap { entry in
            sockets.compactMap { socket in
                guard let gateway = socket.gateway.map({ ByteName($0.name) }), entry.ruledGateways.contains(gateway),
                    let rule = entry.rules.first(where: { $0.gateways.contains(gateway) }),
                    let refusal = socket.refusal(of: entry)
                else { return nil }
                let says = "this names users of the gateway '\(gateway.text)', who cannot call it: \(refusal.message)"
                return ConfigurationMistake(says, at: rule.location)
            }
        }
    }

    private func isShipped(_ file: String) -> Bool { shipped.map { file.hasPrefix("\($0)/") } ?? false }

    private func reached(_ own: [MappingEntry], by socket: SocketRule) -> Finding? {
        guard let gateway = socket.gateway?.name else { return nil }
        let byRule = own.filter { $0.gateways.contains(ByteName(gateway)) }
        // In one folder, nobody knows whose an entry is.
        let listed = shipped == nil ? [] : own.filter { socket.commands.contains(ByteName($0.command)) }
        let byList = listed.filter { !$0.gateways.contains(ByteName(gateway)) }
        var parts: [String] = []
        if !byRule.isEmpty { parts.append("by their own rules \(Self.names(byRule))") }
        if !byList.isEmpty { parts.append("by the list of its socket (\(socket.location)) \(Self.names(byList))") }
        guard !parts.isEmpty else { return nil }
        return Finding(
            "gateways",
            .ok,
            "users of the gateway '\(gateway)' reach of your own entries \(parts.joined(separator: "; ")). Each entry's rule says who of them"
        )
    }

    /// The owner's rules for the users of a gateway that has no socket: a slip in its name, or a part that is not set up.
    var missing: [(says: String, places: [SourceLocation])] {
        let known = Set(sockets.compactMap { $0.gateway.map { ByteName($0.name) } })
        var named: [ByteName: (entries: [MappingEntry], places: Set<SourceLocation>)] = [:]
        for entry in entries().sorted(by: { $0.command < $1.command }) {
            for rule in entry.rules where !isShipped(rule.location.file) {
                for gateway in rule.gateways.subtracting(known) {
                    var (entries, places) = named[gateway] ?? ([], [])
                    if entries.last !== entry { entries.append(entry) }
                    places.insert(rule.location)
                    named[gateway] = (entries, places)
                }
            }
        }
        return named.sorted { $0.key.text < $1.key.text }.map { gateway, found in
            let near = NearestNames.question(gateway.text, among: known.map(\.text) + [PlannedCall.gateway])
            let names = Self.names(found.entries)
            let verb = found.entries.count == 1 ? "names" : "name"
            let says =
                "no socket of the settings has the gateway '\(gateway.text)', whose users \(names) \(verb)\(near)"
            return (says, Array(found.places.sorted().prefix(Self.maxNames)))
        }
    }

    private static func names(_ entries: [MappingEntry]) -> String {
        let more = entries.count > maxNames ? " and \(entries.count - maxNames) more" : ""
        return entries.prefix(maxNames).map(\.command).joined(separator: ", ") + more
    }
}
