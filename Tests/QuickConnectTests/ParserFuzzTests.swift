import Foundation
import JSON
import QuickConnect
import Synchronization
import Testing

/// Runs work that takes long on a thread of its own: those of the tests are few, and others wait for them.
private func onOwnThread<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: work()) }
    }
}

/// Keeps what a session sends, as it is.
private final class KeptOutput: MessageOutput {
    typealias Kept = (id: String?, isError: Bool)

    private let kept = Mutex<[Kept]>([])

    func send(_ message: OutgoingMessage) {
        guard case .reply(let reply) = message else { return }
        let isError = if case .error = reply.body { true } else { false }
        kept.withLock { $0.append((reply.id, isError)) }
    }

    func sendLine(_ start: [UInt8], _ id: borrowing Span<UInt8>) {
        let text = id.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
        kept.withLock { $0.append((text, false)) }
    }

    func finish() {}

    func take() -> [Kept] {
        kept.withLock { kept in
            defer { kept = [] }
            return kept
        }
    }
}

@Suite("No line, however broken, does harm", .timeLimit(.minutes(10)))
struct ParserFuzzTests {
    @Test("A million random and mutated lines are read without a crash", arguments: 0..<4)
    func parsers(shard: UInt64) async {
        let calls = await onOwnThread { Self.countCalls(among: 250_000, seed: shard) }
        // The mutations leave enough lines whole for both ways to be walked.
        #expect(calls > 50_000)
        #expect(calls < 200_000)
    }

    private static func countCalls(among count: Int, seed: UInt64) -> Int {
        var lines = LineGenerator(seed: seed)
        var calls = 0
        for _ in 0..<count {
            for case .call in read(lines.next()) { calls += 1 }
        }
        return calls
    }

    private static func read(_ line: [UInt8]) -> [IncomingMessage] {
        switch WireForm(firstByte: line.first) {
        case .url: [URLForm.read(line.span)]
        case .bridge: BridgeForm.read(line.span)
        }
    }

    @Test("Every call with an id gets exactly one reply with it, every bad line or member one error", arguments: 0..<2)
    func sessions(shard: UInt64) async throws {
        try await withDaemon({ mappings in
            mappings.map("ping")
            mappings.map("echo", .bco { call in .result(.array(call.arguments)) })
            mappings.map("loud", .vco { _ in .reply(1) }, .vco { _ in .reply(2) })
            mappings.map("fail", .bco { _ throws(CommandError) in throw CommandError(.busy, "taken") })
        }) { daemon in
            let controller = daemon.frontController
            let wrong = await onOwnThread { Self.wrongReplies(of: controller, among: 50_000, seed: 100 + shard) }
            #expect(wrong == [])
        }
    }

    /// The lines that got other replies than they should, with these.
    private static func wrongReplies(of controller: FrontController, among count: Int, seed: UInt64) -> [String] {
        let output = KeptOutput()
        let caller = Caller(.peer(uid: 1000, pid: 1, groups: []))
        let session = Session(caller: caller, frontController: controller, output: output)
        var lines = LineGenerator(seed: seed)
        var wrong: [String] = []
        for _ in 0..<count {
            let line = lines.next()
            session.receive(line.span)
            let replies = output.take()
            if !areRight(replies, for: read(line)) {
                wrong.append("\(replies) for \(String(decoding: line, as: UTF8.self))")
            }
        }
        return wrong
    }

    private static func areRight(_ replies: [KeptOutput.Kept], for messages: [IncomingMessage]) -> Bool {
        if messages.isEmpty { return false }
        var ids: [String] = []
        var errorsWithoutId = 0
        var callsWithoutId = 0
        for message in messages {
            switch message {
            case .call(let request):
                if let id = request.id { ids.append(id) } else { callsWithoutId += 1 }
            case .unreadable(let message):
                if let id = message.id { ids.append(id) } else { errorsWithoutId += 1 }
            case .answer: break
            }
        }
        let withoutId = replies.count { $0.id == nil && $0.isError }
        return replies.compactMap(\.id) == ids && withoutId >= errorsWithoutId
            && withoutId <= errorsWithoutId + callsWithoutId
    }
}
