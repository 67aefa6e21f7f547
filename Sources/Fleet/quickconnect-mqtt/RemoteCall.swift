import CommandLineText
import Fleet
import Glibc
import JSON
import MQTT
import QuickConnectClient

/// A call to a device or a group, and what of it is shown.
struct RemoteCall {
    let options: FleetOptions
    let command: String
    let payload: String?

    /// Makes it.
    /// - Parameter show: gets each answer as it comes.
    /// - Returns: what has not come.
    func run(_ show: (_ device: String, FleetReply) -> Void) throws -> ExpectedAnswers {
        let caller = try options.broker.connect()
        let line = ProgressLine()
        defer { line.clear() }
        do throws(FleetFailure) {
            return try caller.call(
                command,
                payload,
                to: options.target,
                spread: options.spread,
                timeout: options.timeout
            ) { progress in
                line.clear()
                switch progress {
                case .answered(let device, let reply): show(device, reply)
                case .away(let device, let seconds):
                    write("\(device) is away; \(Self.kept(seconds))\n", to: STDERR_FILENO)
                case .waiting(let answers): line.show(Self.words(answers))
                }
            }
        } catch {
            throw ExitError(error)
        }
    }

    static func kept(_ seconds: UInt32) -> String { "the broker keeps the call for \(seconds) s" }

    private static func words(_ answers: ExpectedAnswers) -> String {
        switch answers.missing.count {
        case 0: "\(answers.count) answers so far"
        case 1: "waiting for \(answers.missing.first ?? "")\(answers.count > 0 ? ", \(answers.count) answered" : "")"
        default: "\(answers.count) of \(answers.expected) answered"
        }
    }

    /// The value of the one device's answer; everything else ends the program.
    func value() throws -> JSONValue {
        var answer: FleetReply?
        let answers = try run { answer = $1 }
        switch answer {
        case .result(let value, _)?: return value
        case .error(let members)?: throw ExitError(ErrorReply(.object(members)))
        case nil: throw Self.silence(answers)
        }
    }

    static func silence(_ answers: ExpectedAnswers) -> ExitError {
        let shown = answers.missing.isEmpty ? "anybody" : names(answers.missing)
        return ExitError(message: "no answer in time from \(shown)\(answers.question)", status: 4)
    }

    /// The first ten, and how many more.
    static func names(_ devices: Set<String>) -> String {
        let names = devices.sorted()
        return names.prefix(10).joined(separator: ", ") + (names.count > 10 ? " and \(names.count - 10) more" : "")
    }
}

/// One line on a terminal that is overwritten; elsewhere it shows nothing.
struct ProgressLine {
    private let isShown = isatty(STDERR_FILENO) == 1

    func show(_ text: String) { if isShown { write("\r\u{1B}[K\(text) …", to: STDERR_FILENO) } }

    func clear() { if isShown { write("\r\u{1B}[K", to: STDERR_FILENO) } }
}
