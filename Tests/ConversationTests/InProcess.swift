import Commands
import Configuration
import Logging
import QuickConnect
import Synchronization
import TestRig

/// The daemon without sockets: sessions over the shipped mappings, in this process.
final class InProcessDaemon: Sendable {
    let controller: FrontController
    private let waitingCalls = WaitingCalls()

    init() throws {
        controller = FrontController(table: MappingTable(), ownUID: 0, waitingCalls: waitingCalls)
        let sound = SilentSound()
        let parts = Parts(
            soundPlayer: sound,
            volumeControl: sound,
            accounts: sound,
            identity: Identity(version: "test", simulated: []),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            reload: {}
        )
        let handlers = controller.handlers
        let (table, _) = try MappingFiles.load([.init(Products.root + "/mappings", isRequired: true)]).build(
            catalog: Catalog.make(parts),
            scripts: { ScriptCommandObject($0, phase: $1, handlers: handlers) },
            accounts: SystemAccounts()
        )
        controller.replaceTable(table)
    }

    /// Runs a conversation, and the calls that wait in it.
    func run(_ body: @Sendable (InProcessDaemon) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.waitingCalls.run() }
            defer { waitingCalls.finish() }
            try await body(self)
        }
    }

    func talker() -> InProcessTalker { InProcessTalker(controller) }
}

/// A client in the same process.
final class InProcessTalker: Talker, MessageOutput {
    private let lines: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation
    private let session = Mutex<Session?>(nil)
    private let iterator: Mutex<AsyncStream<String>.Iterator>

    init(_ controller: FrontController) {
        (lines, continuation) = AsyncStream.makeStream()
        iterator = Mutex(lines.makeAsyncIterator())
        let root = Caller(.peer(uid: 0, pid: 1, groups: [0]))
        session.withLock { $0 = Session(caller: root, frontController: controller, output: self) }
    }

    func send(_ line: String) async throws {
        let bytes = Array(line.utf8)
        session.withLock { $0 }?.receive(bytes.span)
    }

    func next() async throws -> String? {
        var iterator = iterator.withLock { $0 }
        return await iterator.next()
    }

    func endInput() async throws { session.withLock { $0 }?.endInput() }

    func close() async {
        session.withLock { $0 }?.close()
        continuation.finish()
    }

    func send(_ message: OutgoingMessage) {
        var bytes: [UInt8] = []
        message.write(to: &bytes)
        continuation.yield(String(decoding: bytes.dropLast(), as: UTF8.self))
    }

    func sendLine(_ start: [UInt8], _ id: borrowing Span<UInt8>) {
        var bytes = start
        for index in id.indices { bytes.append(id[index]) }
        continuation.yield(String(decoding: bytes, as: UTF8.self))
    }

    func finish() { continuation.finish() }
}

/// Devices that do nothing, for conversations that are not about them.
struct SilentSound: SoundPlayer, VolumeControl, UserAccounts {
    var sounds: [SystemSound] { [] }
    func state() -> JSONObject { [:] }
    func stop(mayEnd: @Sendable (Caller) -> Bool) {}

    func play(sound number: Int, for caller: Caller) -> Promise<Void> {
        let promise = Promise<Void>()
        promise.fail(CommandError(.notFound, "no sounds"))
        return promise
    }

    func volume(applying change: VolumeChange?) -> Promise<Volume> {
        let promise = Promise<Volume>()
        promise.fail(CommandError(.unsupported, "no mixer"))
        return promise
    }

    func caller(forUser name: String) async -> Caller? { nil }
}
