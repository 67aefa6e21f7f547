import ArgumentParser
import CommandLineText
import JSON
import Linux
import QuickConnect

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks every part of this device, and says how to fix each problem.",
        discussion: """
            Asks the daemon. If none answers, it runs «quickconnectd --doctor», which needs no daemon. Exit status 0 only \
            if no problem is found.

            Examples:
              quickconnect doctor
              quickconnect doctor readers    only what it says of one part
              quickconnect doctor sound      also plays a tone, and listens for it with the microphone
              quickconnect doctor screen     only the ways to the screen; with --flash it is dark for two seconds
              quickconnect doctor --json
            """
    )

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print JSON, for programs.")
    var json = false

    @Flag(help: "With screen: turn it off, and after two seconds on.")
    var flash = false

    @Argument(
        help: ArgumentHelp("The part to show, as in the first column; or a test: sound, screen.", valueName: "WHAT"),
        completion: .list(Self.parts)
    )
    var what: String?

    /// What is offered: the tests, and what most devices have lines of.
    private static let parts = [
        "sound", "daemon", "data", "files", "fleet", "gateways", "hardware", "location", "mappings", "memory",
        "microphone", "mixer", "motion", "nearby", "readers", "schedules", "screen", "settings", "speaker", "vibration",
    ]

    private var isTest: Bool { what == "sound" }

    func validate() throws {
        if flash, what != "screen" {
            throw ValidationError("--flash is a test of the screen: quickconnect doctor screen --flash")
        }
    }

    func run() throws {
        if what == "screen" {
            return try show(DoctorReport([ScreenCheck(connection: connection).finding(flash: flash)]))
        }
        var report = try connection.isAnswered ? askDaemon() : lookWithoutDaemon()
        if let what, !isTest { report = try Self.part(what, of: report) }
        try show(report)
    }

    private func show(_ report: DoctorReport) throws {
        say(json ? report.json.text : report.text(width: Terminal.width))
        if !report.isOK { throw ExitError.refused }
    }

    /// Its lines about one part. Throws, with all parts, where there are none.
    private static func part(_ subject: String, of report: DoctorReport) throws -> DoctorReport {
        let findings = report.findings.filter { $0.subject == subject }
        guard findings.isEmpty else { return DoctorReport(findings) }
        var subjects: [String] = []
        for finding in report.findings where !subjects.contains(finding.subject) { subjects.append(finding.subject) }
        let all = subjects.map(\.shellWord).joined(separator: ", ")
        let absent = report.findings.first { $0.subject == "daemon" && $0.state == .error }.map { ". \($0.says)" } ?? ""
        let says = "The doctor has no line about '\(subject)', but about \(all); and two tests, sound and screen"
        throw ValidationError(says.escapingControls + absent)
    }

    private func askDaemon() throws -> DoctorReport {
        let answer = try connection.call("doctor", isTest ? ["sound"] : [])
        guard let report = DoctorReport(answer) else {
            throw ExitError(message: "the daemon's report cannot be read: \(answer.text)")
        }
        return DoctorReport(report.findings + dataService() + fleet() + kiosk() + waitingFiles())
    }

    /// The finding of the fleet's gateway, if one is running.
    private func fleet() -> [Finding] {
        let answer = try? connection.call("mqtt", ["state"])
        return answer?.objectValue.map { [FleetState($0).finding] } ?? []
    }

    /// The finding of the kiosk's window, if one is open and this user may ask it.
    private func kiosk() -> [Finding] {
        guard let state = (try? connection.call("kiosk", ["state"]))?.objectValue,
            let monitor = state["monitor"]?.objectValue, let name = monitor["name"]?.stringValue
        else { return [] }
        let place = "the window is on \(name), \(monitor["width"]?.text ?? "?")×\(monitor["height"]?.text ?? "?")"
        guard let missing = monitor["missing"]?.stringValue else { return [Finding("kiosk", .ok, place)] }
        let says = "\(place): 'monitor' of the kiosk's settings, \(missing), is not connected"
        return [Finding("kiosk", .warning, says, inspect: "xrandr --listmonitors")]
    }

    /// Scripts, macros and procedures of the owner where the programs that run them are not installed.
    private func waitingFiles() -> [Finding] {
        let program = "quickconnect-scripts"
        guard !Program.isInstalled(program) else { return [] }
        let folders = [true, false].map {
            StandardFolders(isRoot: $0, environment: OwnProcess.environment, program: OwnProcess.program)
        }
        let places = Set(folders.flatMap { [$0.scripts, $0.macros, $0.procedures] }).sorted()
        let waiting = places.filter { FileText.names(in: $0)?.contains { $0.hasSuffix(".js") } == true }
        guard !waiting.isEmpty else { return [] }
        let says = "what is in \(waiting.joined(separator: ", ")) does not run: \(program) is not installed"
        return [Finding("scripts", .warning, says, fix: "sudo apt install \(program)")]
    }

    /// The findings about the data and the server of procedures, if there are such. Only the data service may read their
    /// state, not the daemon; it is normal that this service is not running.
    private func dataService() -> [Finding] {
        guard let list = (try? connection.dataService("procedures", ["list"]))?.objectValue else { return [] }
        var findings: [Finding] = []
        if let problem = list["recording"]?.objectValue?["problem"]?.stringValue {
            findings.append(Finding("data", .error, problem, inspect: "journalctl -u quickconnect-data"))
        }
        findings += [list["recording"]?.objectValue.flatMap { Finding(changesOf: $0) }].compactMap { $0 }
        if let sync = list["sync"], sync != .null { findings.append(FetchedState(sync).finding) }
        return findings
    }

    /// A missing daemon is an error itself; other errors may be its cause.
    private func lookWithoutDaemon() throws -> DoctorReport {
        let fix = ServiceManager.command("start quickconnectd") ?? "quickconnectd"
        let absent = Finding("daemon", .error, "no daemon answers: \(connection.attempts)", fix: fix)
        guard let output = Program.output(of: Program.installed("quickconnectd"), ["--doctor", "--json"]),
            let json = try? JSONParser.parse(output)
        else {
            let says = "no daemon answers, and quickconnectd cannot be run"
            return DoctorReport([Finding("daemon", .error, says, fix: "sudo apt-get install quickconnect")])
        }
        let others = DoctorReport(json)?.findings.filter { $0.subject != "daemon" } ?? []
        return DoctorReport([absent] + others)
    }
}

extension Finding {
    /// That the data service has not taken up settings, as its state of recording says.
    init?(changesOf recording: JSONObject) {
        guard let keys = recording["restart"]?.arrayValue?.compactMap(\.stringValue), !keys.isEmpty else { return nil }
        let says = "the settings have changed since the service of procedures was started: "
        self.init(
            "data",
            .warning,
            says + keys.joined(separator: ", "),
            fix: ServiceManager.restart("quickconnect-data")
        )
    }
}

/// What quickconnect-mqtt says of its broker.
struct FleetState {
    private let members: JSONObject

    init(_ members: JSONObject) { self.members = members }

    private func count(_ name: String) -> Int64 { members[name]?.integerValue ?? 0 }

    /// For the doctor. An unreachable broker is an error even if the device works, because nobody can reach it then.
    var finding: Finding {
        let broker = members["broker"]?.stringValue ?? "the broker"
        let device = members["device"]?.stringValue ?? ""
        let dropped = count("droppedEvents") + count("droppedReplies")
        let lost = dropped == 0 ? "" : "; \(dropped) messages were left out since the start, because the queue was full"
        guard members["connected"] == true else {
            let problem = members["problem"]?.stringValue ?? "not connected"
            let says = "\(device) is not connected to \(broker): \(problem)\(lost)"
            let check = "sudo -u quickconnect-mqtt quickconnect-mqtt --check"
            return Finding("fleet", .error, says, inspect: check)
        }
        return Finding("fleet", dropped == 0 ? .ok : .warning, "\(device) is connected to \(broker)\(lost)")
    }
}
