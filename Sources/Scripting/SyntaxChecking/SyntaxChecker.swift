internal import Glibc
internal import Linux

/// Has the program with a JavaScript engine check one text, for a program without one. It waits for the verdict.
package struct SyntaxChecker: Sendable {
    private let program: String
    private let environment: [String: String]

    /// - Parameter program: the path of quickconnect-scripts.
    package init(program: String, environment: [String: String]) {
        self.program = program
        self.environment = environment
    }

    /// The program that is installed with this one.
    package static var installed: SyntaxChecker {
        SyntaxChecker(program: Program.installed("quickconnect-scripts"), environment: OwnProcess.environment)
    }

    /// A queue of the same process, for a program with a loop.
    package func queue<Ticket>(of type: Ticket.Type = Ticket.self) -> CheckQueue<Ticket> {
        CheckQueue(program: program, environment: environment)
    }

    /// Checks a script. Takes as long as ``CheckProcess/seconds`` of processor time, on a thread that may wait.
    package func verdict(on text: String) -> CheckVerdict {
        let queue = queue(of: Void.self)
        guard queue.submit(CheckedText(.script, text), by: "", ()) else { return .unchecked("it is too long") }
        while true {
            if let (_, verdict) = queue.takeVerdicts().first { return verdict }
            var entry = queue.poll
            let end = queue.nextMoment ?? .now
            let milliseconds = (ContinuousClock.now.duration(to: end) / .milliseconds(1)).rounded(.up)
            _ = Glibc.poll(&entry, 1, Int32(max(0, min(milliseconds, 1000))))
            queue.advance()
        }
    }
}
