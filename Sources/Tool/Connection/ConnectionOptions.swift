import ArgumentParser
import CommandLineText
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
        noDaemon?.attempts.map { "\($0.path): \($0.failure)" }.joined(separator: "; ") ?? ""
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

    /// Makes one call on its own connection and returns its value; any failure ends the program.
    func call(_ command: String, message: String?) throws -> JSONValue {
        let deadline = deadline
        let client = try connect(before: deadline)
        do {
            switch try client.call(command, message: message, before: deadline) {
            case .success(let value): return value
            case .failure(let error): throw ExitError(error)
            }
        } catch let failure as ClientFailure {
            throw ExitError(failure)
        }
    }
}
