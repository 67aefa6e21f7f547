import Glibc
import QuickConnectClient

/// Why the program ends without a result: what it says on standard error, and its exit status.
struct End: Error {
    var message: String
    var status: Int32
    /// The code of an error reply.
    var code: String?

    static let usageStatus: Int32 = 2

    /// An error reply: `code: message`.
    init(_ error: ErrorReply) {
        message = "\(error.code): \(error.message)"
        status = 1
        code = error.code
    }

    /// A result that says no, told on standard output already.
    static let refused = End(message: "", status: 1)

    init(_ failure: ClientFailure) {
        switch failure {
        case .connectionLost(let reason):
            self.init(message: "the connection to the daemon was lost: \(reason)", status: 3)
        case .timedOut: self.init(message: "no answer within the time of --timeout", status: 4)
        }
    }

    init(_ failure: SocketPaths.NoDaemon) {
        let mend = "Start it with «sudo systemctl start quickconnectd», or try it with «quickconnectd --simulate»."
        self.init(message: "\(failure)\n\(mend)", status: 3)
    }

    init(message: String, status: Int32) {
        self.message = message
        self.status = status
    }

    func exit() -> Never {
        if !message.isEmpty { write("quickconnect: \(message)\n", to: STDERR_FILENO) }
        Glibc.exit(status)
    }
}
