import JSON
import QuickConnect
import Runtime
import Synchronization

/// A call that the daemon makes itself, by the way of everybody's calls: rules, parameters, audit.
final class InternalCall: ConnectionOutput {
    typealias Outcome = Result<JSONValue, CommandError>

    private let ended: Mutex<(@Sendable (Outcome) -> Void)?>
    private let connection = Mutex<Connection?>(nil)
    private let loop: Loop

    private static let id = "1"

    private init(_ loop: Loop, _ ended: @escaping @Sendable (Outcome) -> Void) {
        self.loop = loop
        self.ended = Mutex(ended)
    }

    /// Makes the call.
    /// - Parameter ended: is told the answer, or the error, whose details are all its members; on any thread, also before
    ///   this returns.
    static func make(
        _ command: String,
        _ parameters: [JSONValue] = [],
        as caller: Caller,
        on router: Router,
        _ loop: Loop,
        ended: @escaping @Sendable (Outcome) -> Void
    ) {
        let call = InternalCall(loop, ended)
        let connection = Connection(caller: caller, router, output: call)
        call.connection.withLock { $0 = connection }
        let line: JSONValue = [
            "handlerName": .string(command), "data": .array(parameters), "callbackId": .string(id),
        ]
        var reader = MessageReader()
        var table = FrontController.CurrentTable()
        let bytes = Array(line.text.utf8)
        bytes.withUnsafeBufferPointer {
            guard case .message(let message) = reader.read($0) else { return }
            connection.receive(message, &table, form: .bridge)
        }
    }

    func write(_ line: (OutputBuffer) -> Void) {
        let buffer = OutputBuffer(capacity: 256)
        line(buffer)
        let text = buffer.withBytes { String(decoding: $0, as: UTF8.self) }
        guard let reply = (try? JSONParser.parse(text))?.objectValue, reply["responseId"]?.stringValue == Self.id,
            let ended = ended.withLock({ $0.take() })
        else { return }
        // Later, because the connection is just finishing the call. What the call has left on it ends, as for any client.
        if let connection = connection.withLock({ $0.take() }) { loop.execute { connection.close() } }
        guard let error = reply["error"]?.objectValue else { return ended(.success(reply["responseData"] ?? .null)) }
        let code = error["code"]?.stringValue.flatMap(CommandError.Code.init) ?? .internal
        ended(.failure(CommandError(code, error["message"]?.stringValue ?? "", details: error)))
    }

    func send(_ event: Event, form: WireForm) {}

    func finish() {}
}
