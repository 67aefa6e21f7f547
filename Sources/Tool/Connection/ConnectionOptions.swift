import ArgumentParser
import CommandLineText
import Configuration
import JSON
import Linux
import QuickConnect
import QuickConnectClient

/// Which daemon, and how long to wait for it.
struct ConnectionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("\(SocketPaths.help)", valueName: "PATH"))
    var socket: String?

    @Option(help: ArgumentHelp("How long to wait for the answer (default: no limit).", valueName: "SECONDS"))
    var timeout: Double?

    func validate() throws {
        if let timeout, !(timeout > 0 && timeout < 1e9) {
            throw ValidationError("--timeout takes a number of seconds greater than 0.")
        }
    }

    /// Whether a daemon answers.
    var isAnswered: Bool { noDaemon == nil }

    /// Where a daemon was looked for, and what happened there.
    var attempts: String {
        noDaemon?.reasons.joined(separator: "; ") ?? ""
    }

    private var noDaemon: SocketPaths.NoDaemon? {
        do throws(SocketPaths.NoDaemon) {
            _ = try SocketPaths.connect(candidates, before: deadline ?? .now + Self.patience)
            return nil
        } catch {
            return error
        }
    }

    private var candidates: [String] {
        SocketPaths.candidates(named: socket, environment: SocketPaths.environment)
    }

    /// How long a daemon may take to accept when only its presence is checked.
    private static let patience = Duration.seconds(5)

    /// When `--timeout` is over, from now.
    var deadline: ContinuousClock.Instant? { timeout.map { .now + .seconds($0) } }

    /// - Parameter deadline: when to stop waiting for a daemon that does not accept.
    func connect(before deadline: ContinuousClock.Instant?) throws -> Client {
        do throws(SocketPaths.NoDaemon) {
            return Client(try SocketPaths.connect(candidates, before: deadline))
        } catch {
            if error.attempts.contains(where: \.failure.isTimeout) { throw ExitError(ClientFailure.timedOut) }
            throw ExitError(error)
        }
    }

    /// Makes one call on its own connection; only an error reply does not end the program.
    func result(of command: String, message: String?) throws -> Result<JSONValue, ErrorReply> {
        let deadline = deadline
        return try connect(before: deadline).result(of: command, message: message, before: deadline)
    }

    /// - Parameter parameters: none are no message.
    func result(of command: String, _ parameters: [JSONValue]) throws -> Result<JSONValue, ErrorReply> {
        try result(of: command, message: parameters.isEmpty ? nil : JSONValue.array(parameters).text)
    }

    /// Makes one call on its own connection and returns its value; any failure ends the program.
    func call(_ command: String, _ parameters: [JSONValue] = []) throws -> JSONValue {
        try result(of: command, parameters).mapError(failure).get()
    }

    /// The end of the program by an error reply, with the line of a script. A name that nobody knows may be in a file that was not read yet.
    func failure(_ error: ErrorReply) -> ExitError {
        var end = ExitError(error)
        if let service = error.members["service"]?.stringValue.flatMap(OwnPrograms.unavailable) {
            end.message = service
        }
        if let place = CommandError.place(in: error.members) { end.message += "\n  \(place.escapingControls)" }
        if error.code == "unknownCommand" {
            let name = error.message.firstMatch(of: /'([^']+)'/).map { String($0.1) }
            end.message += unreadFiles(with: name).map { "\n\($0)" } ?? ""
        }
        return end
    }

    /// What to say of files that wait for a reload; nil if there are none, or this connection may not ask.
    /// - Parameter name: what one of them may declare. It is looked for where this user may read.
    func unreadFiles(with name: String? = nil) -> String? {
        guard case .success(let answer)? = try? result(of: "doctor", ["files"]),
            let finding = DoctorReport(answer)?.findings.first(where: { $0.subject == "files" })
        else { return nil }
        let files = finding.says.split(separator: ": ", maxSplits: 1).last?.split(separator: ", ").map(String.init)
        let file = files?.first { file in
            let text = try? FileText.read(file, maximumBytes: 4 << 20).get()
            return name.map(MappingFiles.names(in: text ?? "").contains) ?? false
        }
        let says = file.map { "'\(name ?? "")' is in \($0), which the daemon has not read yet" } ?? finding.says
        return says + (finding.fix.map { ": «\(mayReload ? "" : "sudo ")\($0)»" } ?? "")
    }

    private var mayReload: Bool {
        guard case .success(let answer)? = try? result(of: "can", ["reload"]) else { return false }
        return answer.objectValue?["allowed"] == true
    }
}

/// A connection, and how an answer is printed.
struct AnswerOptions: ParsableArguments {
    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "Print JSON, for programs.")
    var json = false

    /// - Returns: the answer, to be shown to people; nil if it has been printed as JSON.
    func forPeople(_ answer: JSONValue) -> JSONValue? {
        guard json else { return answer }
        say(answer.text)
        return nil
    }
}

extension Client {
    /// Makes a call; what ends the connection ends the program.
    func result(
        of command: String,
        message: String?,
        before deadline: ContinuousClock.Instant?
    ) throws(ExitError) -> Result<JSONValue, ErrorReply> {
        do throws(ClientFailure) { return try call(command, message: message, before: deadline) } catch {
            throw ExitError(error)
        }
    }
}
