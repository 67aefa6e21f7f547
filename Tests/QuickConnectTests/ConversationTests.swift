import Conversations
import CoreModel
import QuickConnect
import Synchronization
import Testing

@Suite("Conversations, in this process", .timeLimit(.minutes(5)))
struct ConversationTests {
    @Test("Every conversation goes as it should", arguments: Conversation.all)
    func hold(_ conversation: Conversation) async throws {
        try await withDaemon({ $0.mapShipped() }) { daemon in
            try await conversation.hold(with: InProcessHost(daemon: daemon))
        }
    }
}

/// A daemon in this process, whose clients are its own user.
private struct InProcessHost: ConversationHost {
    let daemon: TestDaemon

    func connect() -> any ConversationClient { InProcessClient(daemon.connect(uid: TestDaemon.uid)) }
}

/// Splits what it is sent into lines, as a listener would.
private final class InProcessClient: ConversationClient {
    private struct Input {
        var line: [UInt8] = []
        var overlong: OverlongLine?
    }

    private let client: TestClient
    private let input = Mutex(Input())

    init(_ client: TestClient) { self.client = client }

    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 0x0A) {
            take(rest[..<end])
            rest = rest[(end + 1)...]
            endLine()
        }
        take(rest)
    }

    private func take(_ bytes: ArraySlice<UInt8>) {
        let limit = client.connection.frontController.limits.lineBytes
        input.withLock { input in
            guard input.overlong == nil else { return bytes.withUnsafeBufferPointer { input.overlong?.add($0) } }
            input.line += bytes
            guard input.line.count > limit + 1 else { return }
            input.overlong = OverlongLine(input.line)
            input.line = []
        }
    }

    private func endLine() {
        let (line, overlong) = input.withLock { input in
            defer { input = Input() }
            return (input.line.last == 0x0D ? Array(input.line.dropLast()) : input.line, input.overlong)
        }
        if let overlong {
            client.driver.receive(overlong)
        } else {
            client.driver.receive(line)
        }
    }

    func nextLine(within deadline: Duration) async throws -> String? {
        guard let line = await client.lines.next(within: deadline) else {
            throw ConversationFailure("nothing came in time")
        }
        return line == LineQueue.end ? nil : line
    }

    func endInput() { client.connection.endInput() }

    func close() {
        if client.lines.unread.isEmpty { client.ignoreTheRest() }
        client.connection.close()
    }
}
