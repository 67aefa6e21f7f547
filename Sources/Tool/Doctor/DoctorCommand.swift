import ArgumentParser
import CommandLineText
import Glibc
import JSON
import Linux
import QuickConnect
import QuickConnectClient

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks every device, and says how to fix each problem.",
        discussion: """
            Asks the daemon. If none answers, it runs «quickconnectd --doctor», which needs no daemon. Exit status 0 only \
            if no problem is found.

            Examples:
              quickconnect doctor
              quickconnect doctor sound    also plays a tone, and listens for it with the microphone
              quickconnect doctor --json
            """
    )

    enum Test: String, ExpressibleByArgument, CaseIterable {
        case sound
    }

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print JSON, for programs.")
    var json = false

    @Argument(help: ArgumentHelp("What to test: sound.", valueName: "WHAT"))
    var test: Test?

    func run() throws {
        let report = try connection.isAnswered ? askDaemon() : lookWithoutDaemon()
        say(json ? report.json.text : report.text(width: Terminal.width))
        if !report.isOK { throw ExitError.refused }
    }

    private func askDaemon() throws -> DoctorReport {
        let message = test.map { JSONValue.array([.string($0.rawValue)]).text }
        let answer = try connection.call("doctor", message: message)
        guard let report = DoctorReport(answer) else {
            throw ExitError(message: "the daemon's report cannot be read: \(answer.text)", status: 1)
        }
        return DoctorReport(report.findings + dataService() + fleet() + kiosk())
    }

    /// The finding of the fleet's gateway, if one is running.
    private func fleet() -> [Finding] {
        let answer = try? connection.call("mqtt", message: JSONValue.array(["state"]).text)
        return answer?.objectValue.map { [FleetState($0).finding] } ?? []
    }

    /// The finding of the kiosk's window, if one is open and this user may ask it.
    private func kiosk() -> [Finding] {
        guard let state = (try? connection.call("kiosk", message: JSONValue.array(["state"]).text))?.objectValue,
            let monitor = state["monitor"]?.objectValue, let name = monitor["name"]?.stringValue
        else { return [] }
        let place = "the window is on \(name), \(monitor["width"]?.text ?? "?")×\(monitor["height"]?.text ?? "?")"
        guard let missing = monitor["missing"]?.stringValue else { return [Finding("kiosk", .ok, place)] }
        let says = "\(place): 'monitor' of the kiosk's settings, \(missing), is not connected"
        return [Finding("kiosk", .warning, says, inspect: "xrandr --listmonitors")]
    }

    /// The findings about the data and the server of procedures, if there are such. Only the data service may read their
    /// state, not the daemon; it is normal that this service is not running.
    private func dataService() -> [Finding] {
        guard let list = (try? connection.dataService("procedures", ["list"]))?.objectValue else { return [] }
        var findings: [Finding] = []
        if let problem = list["recording"]?.objectValue?["problem"]?.stringValue {
            findings.append(Finding("data", .error, problem, inspect: "journalctl -u quickconnect-data"))
        }
        if let sync = list["sync"], sync != .null { findings.append(FetchedState(sync).finding) }
        return findings
    }

    /// A missing daemon is an error itself; other errors may be its cause.
    private func lookWithoutDaemon() throws -> DoctorReport {
        let fix = "sudo systemctl start quickconnectd"
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
