import QuickConnect
import Synchronization
import Testing

// These tests run for long, so they let others run in between.

/// Keeps what a session sends, as it is.
private final class KeptOutput: MessageOutput {
    private let kept = Mutex<[(id: String?, isError: Bool)]>([])

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

    func take() -> [(id: String?, isError: Bool)] {
        kept.withLock { kept in
            defer { kept = [] }
            return kept
        }
    }
}

@Suite("No line, however broken, does harm", .timeLimit(.minutes(5)))
struct ParserFuzzTests {
    @Test("A million random and mutated lines are read without a crash", arguments: 0..<4)
    func parsers(shard: UInt64) async {
        var lines = LineGenerator(seed: shard)
        var calls = 0
        for number in 0..<250_000 {
            if number.isMultiple(of: 500) { await Task.yield() }
            let line = lines.next()
            switch WireForm(firstByte: line.first) {
            case .url: if case .call = URLForm.read(line.span) { calls += 1 }
            case .bridge:
                let messages = BridgeForm.read(line.span)
                if messages.isEmpty { Issue.record("no message in \(String(decoding: line, as: UTF8.self))") }
                for case .call in messages { calls += 1 }
            }
        }
        // The mutations leave enough lines whole for both ways to be walked.
        #expect(calls > 50_000)
        #expect(calls < 200_000)
    }

    @Test("Every call with an id gets exactly one reply with it, every bad line or member one error", arguments: 0..<2)
    func sessions(shard: UInt64) async throws {
        try await withDaemon({ mappings in
            mappings.map("ping")
            mappings.map("echo", .bco { call in .result(.array(call.arguments)) })
            mappings.map("loud", .vco { _ in .reply(1) }, .vco { _ in .reply(2) })
            mappings.map("fail", .bco { _ throws(CommandError) in throw CommandError(.busy, "taken") })
        }) { daemon in
            let output = KeptOutput()
            let session = Session(
                caller: Caller(.peer(uid: 1000, pid: 1, groups: [])),
                frontController: daemon.frontController,
                output: output
            )
            var lines = LineGenerator(seed: 100 + shard)
            for number in 0..<50_000 {
                if number.isMultiple(of: 500) { await Task.yield() }
                let line = lines.next()
                session.receive(line.span)
                check(output.take(), for: line)
            }
        }
    }

    private func check(_ replies: [(id: String?, isError: Bool)], for line: [UInt8]) {
        let messages =
            WireForm(firstByte: line.first) == .url ? [URLForm.read(line.span)] : BridgeForm.read(line.span)
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
        let withoutId = replies.filter { $0.id == nil && $0.isError }.count
        let isRight =
            replies.compactMap(\.id) == ids && withoutId >= errorsWithoutId
            && withoutId <= errorsWithoutId + callsWithoutId
        if !isRight { Issue.record("\(replies) for \(String(decoding: line, as: UTF8.self))") }
    }
}
