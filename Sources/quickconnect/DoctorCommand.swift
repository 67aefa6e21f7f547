import ArgumentParser
import Glibc
import JSON
import Linux
import QuickConnect
import QuickConnectClient

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Looks at every device, and says what mends each fault.",
        discussion: """
            Asks the daemon; where none answers it runs «quickconnectd --doctor», which needs none. Exit status 0 only \
            when all is well.

            Examples:
              quickconnect doctor
              quickconnect doctor sound    also plays a tone, and listens to it with the microphone
              quickconnect doctor --json
            """
    )

    enum Test: String, ExpressibleByArgument, CaseIterable {
        case sound
    }

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print JSON, for programs.")
    var json = false

    @Argument(help: ArgumentHelp("What to try out: sound.", valueName: "WHAT"))
    var test: Test?

    func run() throws {
        let report = try connection.isAnswered ? askDaemon() : lookWithoutDaemon()
        say(json ? report.json.text : report.text)
        if !report.isWell { throw End.refused }
    }

    private func askDaemon() throws -> DoctorReport {
        let message = test.map { JSONValue.array([.string($0.rawValue)]).text }
        let answer = try connection.call("doctor", message: message)
        guard let report = DoctorReport(answer) else {
            throw End(message: "the daemon's report cannot be read: \(answer.text)", status: 1)
        }
        return DoctorReport(report.findings + fetchedProcedures())
    }

    /// What is known of the server of procedures, where there is one. Its service may not run, which is nobody's fault.
    private func fetchedProcedures() -> [Finding] {
        let list = try? connection.dataService("procedures", ["list"])
        guard let sync = list?.objectValue?["sync"], sync != .null else { return [] }
        return [FetchedState(sync).finding]
    }

    /// No daemon is a fault of its own; what else is wrong may be why.
    private func lookWithoutDaemon() throws -> DoctorReport {
        let mend = "sudo systemctl start quickconnectd"
        let absent = Finding("daemon", .fault, "none answers: \(connection.attempts)", mend: mend)
        guard let output = Program.output(of: OwnPrograms.path("quickconnectd"), ["--doctor", "--json"]),
            let json = try? JSONParser.parse(output)
        else {
            let says = "none answers, and quickconnectd cannot be run"
            return DoctorReport([Finding("daemon", .fault, says, mend: "sudo apt-get install quickconnect")])
        }
        let others = DoctorReport(json)?.findings.filter { $0.subject != "daemon" } ?? []
        return DoctorReport([absent] + others)
    }
}
