import CoreModel
import Foundation
import JSON
import QuickConnect
import Synchronization
import TestRig
import Testing

/// Runs work that takes long on a thread of its own: those of the tests are few, and others wait for them.
private func onOwnThread<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: work()) }
    }
}

/// Keeps what a connection sends, as a client reads it.
private final class KeptOutput: ConnectionOutput {
    typealias Kept = (id: String?, isError: Bool)

    private let lines = Mutex<[[UInt8]]>([])

    func write(_ line: (OutputBuffer) -> Void) {
        let buffer = OutputBuffer()
        line(buffer)
        let bytes = buffer.flattened()
        lines.withLock { $0.append(bytes) }
    }

    func send(_ event: Event, form: WireForm) {}
    func finish() {}

    /// Nil where a line is none that a client can read.
    func take() -> [Kept]? {
        let taken = lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
        let kept = taken.compactMap { Self.kept($0.dropLast()) }
        return kept.count == taken.count ? kept : nil
    }

    private static func kept(_ line: ArraySlice<UInt8>) -> Kept? {
        if let reply = URLReply(Array(line)) { return (reply.id, reply.command == CommandError.replyCommand) }
        guard let value = try? JSONParser.parse(Array(line).span), let members = value.objectValue else { return nil }
        return (members["responseId"]?.stringValue, members["error"] != nil)
    }
}

@Suite("No line, however broken, does harm", .timeLimit(.minutes(10)))
struct ParserFuzzTests {
    @Test("Random and mutated lines are read without a crash")
    func parsers() async { await Self.parse(50_000, seed: 4) }

    @Test("A million random and mutated lines are read without a crash", .slow, arguments: 0..<4)
    func manyParsers(shard: UInt64) async { await Self.parse(250_000, seed: shard) }

    private static func parse(_ count: Int, seed: UInt64) async {
        let calls = await onOwnThread { countCalls(among: count, seed: seed) }
        // The mutations leave enough lines whole for both ways to be walked.
        #expect(calls > count / 5 && calls < count / 5 * 4)
    }

    private static func countCalls(among count: Int, seed: UInt64) -> Int {
        var lines = LineGenerator(seed: seed)
        var calls = 0
        for _ in 0..<count {
            for case .call in messages(of: lines.next()) { calls += 1 }
        }
        return calls
    }

    @Test("Every call with an id gets exactly one reply with it, every bad line or member one error")
    func connections() async throws { try await Self.answer(5_000, seed: 102) }

    @Test("A hundred thousand calls, lines and members get theirs", .slow, arguments: 0..<2)
    func manyConnections(shard: UInt64) async throws { try await Self.answer(50_000, seed: 100 + shard) }

    private static func answer(_ count: Int, seed: UInt64) async throws {
        try await withDaemon({ mappings in
            mappings.map("ping")
            mappings.map("echo", .bco { call in .result(.array(call.arguments)) })
            mappings.map("loud", .vco { _ in .reply(1) }, .vco { _ in .reply(2) })
            mappings.map("fail", .bco { _ throws(CommandError) in throw CommandError(.busy, "taken") })
        }) { daemon in
            let router = daemon.router
            let wrong = await onOwnThread { wrongReplies(of: router, among: count, seed: seed) }
            #expect(wrong == [])
        }
    }

    /// The lines that got other replies than they should, with these.
    private static func wrongReplies(of router: Router, among count: Int, seed: UInt64) -> [String] {
        let output = KeptOutput()
        let caller = Caller(.peer(uid: 1000, pid: 1, groups: []))
        let driver = LineDriver(Connection(caller: caller, router, output: output))
        var lines = LineGenerator(seed: seed)
        var wrong: [String] = []
        for _ in 0..<count {
            let line = lines.next()
            driver.receive(line)
            let replies = output.take()
            if !areRight(replies ?? [], for: messages(of: line)) {
                wrong.append("\(String(describing: replies)) for \(String(decoding: line, as: UTF8.self))")
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
