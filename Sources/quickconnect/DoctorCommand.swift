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
        return DoctorReport(report.findings + fetchedProcedures() + fleet())
    }

    /// The finding of the fleet's gateway, if one is running.
    private func fleet() -> [Finding] {
        let answer = try? connection.call("mqtt", message: JSONValue.array(["state"]).text)
        return answer?.objectValue.map { [FleetState($0).finding] } ?? []
    }

    /// The finding about the server of procedures, if there is one. Only the data service may read its state, not the
    /// daemon; it is normal that this service is not running.
    private func fetchedProcedures() -> [Finding] {
        let list = try? connection.dataService("procedures", ["list"])
        guard let sync = list?.objectValue?["sync"], sync != .null else { return [] }
        return [FetchedState(sync).finding]
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
