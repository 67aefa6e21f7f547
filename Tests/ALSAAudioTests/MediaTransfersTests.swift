import Concurrency
import Foundation
import JSON
import QuickConnect
import Synchronization
import TestRig
import Testing

@testable import ALSAAudio
@testable import MediaFolder

/// A client that does nothing but be there, until it is gone.
private final class PresentClient: CallConnection {
    private let closings = Mutex<[@Sendable () -> Void]?>([])

    let caller = Caller(.peer(uid: 1000, pid: 7, groups: []))
    let socketRule: SocketRule? = nil
    let process: CallingProcess? = nil
    var isClosed: Bool { closings.withLock { $0 == nil } }
    var answers: Bool { false }
    func interruptCalls(id: String?, with error: CommandError) {}
    func act(for user: String, groups: Set<String>) throws(CommandError) {}
    func tell(_ error: CommandError, of command: String, form: WireForm) {}
    func send(_ event: Event, form: WireForm) {}
    func forgetAnswer(_ number: Int) {}

    func callHandler(
        _ handler: String,
        _ call: borrowing Call,
        in phase: Phase,
        for receiver: any AnswerReceiver
    ) -> Int { 0 }

    func whenClosed(_ body: @escaping @Sendable () -> Void) {
        let isClosed = closings.withLock { closings in
            closings?.append(body)
            return closings == nil
        }
        if isClosed { body() }
    }

    func close() {
        for body in closings.withLock({ $0.take() }) ?? [] { body() }
    }
}

/// Uploads, and what ends them.
@Suite struct MediaTransfersTests {
    let folder: TestFolder
    let media: MediaFolder
    let owners: MediaOwners
    private let rights = FileRights(Caller(.peer(uid: 1000, pid: 7, groups: [])), isPrivileged: false)

    init() throws {
        folder = try TestFolder()
        media = MediaFolder(path: folder("media"))
        owners = MediaOwners(media, index: nil, logger: LogRecord().logger)
    }

    private func transfers(idleTime: Duration = .seconds(60)) -> MediaTransfers {
        MediaTransfers(media, owners: owners, reserve: DiskReserve(bytes: 0), idleTime: idleTime)
    }

    private func write(
        _ name: String,
        at offset: Int,
        _ transfers: MediaTransfers,
        _ client: PresentClient
    ) async -> CommandError.Code? {
        let piece = UploadPiece(file: name, offset: offset, data: .value("eHh4"))
        return await outcome(transfers.write(piece, for: rights, on: client)).code
    }

    private var files: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder("media"))) ?? []).sorted()
    }

    @Test func `an upload that gets no piece for long makes room, one that does goes on`() async throws {
        let transfers = transfers(idleTime: .milliseconds(300))
        let (idle, busy) = (PresentClient(), PresentClient())
        #expect(await write("idle.bin", at: 0, transfers, idle) == nil)
        #expect(await write("busy.bin", at: 0, transfers, busy) == nil)
        var offset = 3
        try await eventually("the idle one is gone") {
            #expect(await write("busy.bin", at: offset, transfers, busy) == nil)
            offset += 3
            return files == [".busy.bin.upload"]
        }
        #expect(await write("idle.bin", at: 3, transfers, idle) == .invalid)
        #expect(await write("idle.bin", at: 0, transfers, busy) == nil)
        await transfers.close()
        #expect(files == [])
    }

    @Test func `what was sent before the client went leaves nothing, whenever it is written`() async throws {
        let transfers = transfers()
        for _ in 0..<50 {
            let client = PresentClient()
            let promises = (0..<4).map { number in
                let piece = UploadPiece(file: "\(number).bin", offset: 0, data: .value("eHh4"))
                return transfers.write(piece, for: rights, on: client)
            }
            client.close()
            for promise in promises { _ = await outcome(promise) }
        }
        try await eventually("nothing is left") { files == [] }
        // Nor is a name taken.
        #expect(await write("0.bin", at: 0, transfers, PresentClient()) == nil)
    }

    @Test func `clients take turns`() async throws {
        let transfers = transfers()
        try media.make()
        try folder.write(Data(count: 1 << 20), to: "media/large.bin")
        let (greedy, modest) = (PresentClient(), PresentClient())
        let order = Mutex<[String]>([])
        let large = (0..<20).map { _ in
            transfers.read("large.bin", from: 0, atMost: 1 << 20, for: .daemon, on: greedy)
        }
        for promise in large { promise.whenSettled { _ in order.withLock { $0.append("large") } } }
        let small = transfers.read("large.bin", from: 0, atMost: 1, for: .daemon, on: modest)
        small.whenSettled { _ in order.withLock { $0.append("small") } }
        try await eventually("all are read") { order.withLock { $0.count == 21 } }
        #expect(order.withLock { $0.firstIndex(of: "small") } ?? 21 <= 2)
    }
}
