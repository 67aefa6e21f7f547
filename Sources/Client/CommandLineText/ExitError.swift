internal import Glibc
internal import JSON
internal import Linux
package import QuickConnectClient

/// Why the program ends without a result: its message on standard error, and its exit status.
package struct ExitError: Error {
    package var message: String
    package var status: Int32
    /// The code of an error reply.
    package var code: String?
    /// The error as JSON, for programs.
    private var json: JSONObject
    private var isBare = false

    package static let usageStatus: Int32 = 2
    /// Such as for a full disk.
    package static let outputStatus: Int32 = 5

    /// An error reply: `code: message`.
    package init(_ error: ErrorReply) {
        // The line of a rule is for others; whoever types is mostly the owner.
        let isRoots = error.members["rule"] == "root only" && geteuid() != 0
        message = "\(error.code): \(error.message)\(isRoots ? "; or run it with sudo" : "")".escapingControls
        status = 1
        code = error.code
        json = error.members
    }

    /// A negative result that was already printed.
    package static let refused = ExitError(message: "")

    package init(_ failure: ClientFailure) {
        switch failure {
        case .connectionLost(let reason):
            self.init(message: "the connection to the daemon was lost: \(reason)", status: 3)
        case .timedOut: self.init(message: "no answer within the time of --timeout", status: 4)
        }
    }

    package init(_ failure: SocketPaths.NoDaemon) {
        // A daemon that refuses this user is running; where a file is, none can be started.
        let isRefused = failure.attempts.contains { [EACCES, ENOTSOCK].contains($0.failure.code) }
        let own = failure.attempts.map(\.path).filter { !$0.hasPrefix("/run/quickconnect/") }
        let start = ServiceManager.command("start quickconnectd") ?? "quickconnectd"
        let advice =
            failure.attempts.count == 1 && own.count == 1
            ? "Start the daemon of this socket; to try one: «quickconnectd --simulate --socket \(own[0].shellWord)»."
            : """
            Start it with «\(start)», or try it with «quickconnectd --simulate». A daemon with a socket of its own needs \
            --socket PATH, or QUICKCONNECT_SOCKET=PATH.
            """
        self.init(message: isRefused ? "\(failure)" : "\(failure)\n\(advice)", status: 3)
        // Programs log it.
        json = ["message": .string(isRefused ? failure.line : "\(failure.line). \(advice)")]
    }

    package init(message: String, status: Int32 = 1) {
        self.message = message
        self.status = status
        json = ["message": .string(message)]
    }

    /// The same as a line of JSON: the error reply, or `{"message"}`.
    package var asJSON: ExitError {
        var end = self
        end.message = JSONValue.object(json).text
        end.isBare = true
        return end
    }

    /// - Parameter program: who says it.
    package func exit(of program: String) -> Never {
        if !message.isEmpty { write("\(isBare ? "" : "\(program): ")\(message)\n", to: STDERR_FILENO) }
        Glibc.exit(status)
    }
}
