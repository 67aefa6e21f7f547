internal import Configuration
internal import Glibc
internal import JSON
internal import Linux
internal import QuickConnect
internal import QuickConnectClient
internal import SyntaxChecking

/// The checks of procedures' texts, which wait for each other and delay no procedure.
final class ProcedureChecks {
    typealias Answer = (HandlerCall, Result<JSONValue, HandlerCall.Failure>)

    /// A text to check.
    struct Source: Sendable {
        /// The file in the error.
        var file: String
        var text: String

        /// That of a procedure's file. It waits for the disk.
        static func found(_ name: String, _ folders: ProcedureFolders) -> Result<Source, HandlerCall.Failure> {
            guard let file = folders.file(name) else { return .failure(folders.missing(name)) }
            switch file.text() {
            case .success(let text): return .success(Source(file: file.path, text: text))
            case .failure(let problem):
                return .failure(HandlerCall.Failure(.unavailable, "\(file.path) \(problem.message)"))
            }
        }
    }

    private struct Ticket {
        var call: HandlerCall
        /// The file in the error.
        var file: String
        var isExecutable: Bool
    }

    private let queue: CheckQueue<Ticket>
    private var answers: [Answer] = []

    /// - Parameter program: the path of quickconnect-scripts.
    init(program: String, environment: [String: String]) {
        queue = SyntaxChecker(program: program, environment: environment).queue()
    }

    /// Checks a text; if there is none, it says why.
    func submit(_ call: HandlerCall, _ source: Result<Source, HandlerCall.Failure>) {
        do throws(HandlerCall.Failure) {
            let source = try source.get()
            guard source.text.utf8.count <= ProcedureSettings.fileBytes else {
                let sentence = "a procedure has at most \(ProcedureSettings.fileBytes >> 10) KiB"
                throw HandlerCall.Failure(.tooLarge, sentence, field: "/2")
            }
            let isExecutable = ProcedureSetCheck.isExecutable(source.text, source.file)
            let ticket = Ticket(call: call, file: source.file, isExecutable: isExecutable)
            guard queue.submit(CheckedText(.script, source.text), by: call.callerName, ticket) else {
                throw HandlerCall.Failure(.overloaded, CheckQueue<Ticket>.overloaded)
            }
        } catch {
            answers.append((call, .failure(error)))
        }
    }

    // MARK: In the loop

    /// What to wait for in poll(2).
    var poll: pollfd { queue.poll }
    var nextMoment: ContinuousClock.Instant? { queue.nextMoment }

    /// The results of checks since the last time.
    func takeAnswers() -> [Answer] {
        queue.advance()
        for (ticket, verdict) in queue.takeVerdicts() { answers.append((ticket.call, Self.result(ticket, verdict))) }
        defer { answers = [] }
        return answers
    }

    private static func result(_ ticket: Ticket, _ verdict: CheckVerdict) -> Result<JSONValue, HandlerCall.Failure> {
        switch verdict {
        case .valid:
            guard ticket.isExecutable else {
                return .failure(HandlerCall.Failure(.invalid, "\(ticket.file) has no function execute"))
            }
            return .success(.null)
        case .unchecked(let reason):
            return .failure(HandlerCall.Failure(.unavailable, "the procedure cannot be checked: \(reason)"))
        case .mistake(var place):
            let message = place["message"]?.stringValue ?? "it is not valid JavaScript"
            place["message"] = nil
            place["file"] = .string(ticket.file)
            var failure = HandlerCall.Failure(.invalid, message)
            failure.details = place
            return .failure(failure)
        }
    }
}
