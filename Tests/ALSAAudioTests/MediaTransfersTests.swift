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
    func act(for user: String, groups: Set<String>, hearsLeases: Bool) throws(CommandError) {}
    func report(_ error: CommandError, of command: String, form: WireForm) {}
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
        _ client: PresentClient,
        for rights: FileRights? = nil
    ) async -> CommandError.Code? {
        let piece = UploadPiece(file: name, offset: offset, data: .value("eHh4"))
        return await outcome(transfers.write(piece, for: rights ?? self.rights, on: client)).code
    }

    private func rights(of uid: UInt32, isPrivileged: Bool = false) -> FileRights {
        FileRights(Caller(.peer(uid: uid, pid: 7, groups: [])), isPrivileged: isPrivileged)
    }

    /// Begins files on as many connections as it takes until one is refused.
    /// - Returns: how many were begun, at most 100.
    private func fill(
        _ transfers: MediaTransfers,
        for rights: FileRights,
        on clients: inout [PresentClient]
    ) async -> Int {
        var begun = 0
        while begun < 100 {
            let client = begun % MediaTransfers.uploadsPerConnection == 0 ? PresentClient() : clients[clients.count - 1]
            clients.append(client)
            let name = "\(rights.caller.owner.uid ?? 0)-\(begun).bin"
            guard await write(name, at: 0, transfers, client, for: rights) == nil else { break }
            begun += 1
        }
        return begun
    }

    private var files: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder("media"))) ?? []).sorted()
    }

    @Test func `an upload that gets no piece for long makes room, one that does goes on`() async throws {
        let transfers = transfers(idleTime: .seconds(3))
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

    @Test func `a user has a share of the uploads, on however many connections, and root always finds a place`()
        async throws
    {
        let scripts: UInt32 = 900
        let named = MediaOwners(
            media,
            index: nil,
            account: { $0 == scripts ? "scripts" : "user\($0)" },
            logger: LogRecord().logger
        )
        let transfers = MediaTransfers(media, owners: named, reserve: DiskReserve(bytes: 0), scripts: "scripts")
        var clients: [PresentClient] = []
        #expect(await fill(transfers, for: rights(of: 1000), on: &clients) == 16)
        #expect(await fill(transfers, for: rights(of: scripts), on: &clients) == 32)
        #expect(await fill(transfers, for: rights(of: 1001), on: &clients) == 16)
        #expect(await fill(transfers, for: rights(of: 1002), on: &clients) == 0)
        #expect(await fill(transfers, for: rights(of: 0, isPrivileged: true), on: &clients) == 8)
        await transfers.close()
        #expect(files == [])
    }

    @Test func `users take turns, with however many connections`() async throws {
        let transfers = transfers()
        try media.make()
        try folder.write(Data(count: 1 << 20), to: "media/large.bin")
        let (greedy, modest) = (rights(of: 1000, isPrivileged: true), rights(of: 1001, isPrivileged: true))
        let clients = (0..<21).map { _ in PresentClient() }
        let order = Mutex<[String]>([])
        for client in clients.dropLast() {
            transfers.read("large.bin", from: 0, atMost: 1 << 20, for: greedy, on: client)
                .whenSettled { _ in order.withLock { $0.append("large") } }
        }
        transfers.read("large.bin", from: 0, atMost: 1, for: modest, on: clients[20])
            .whenSettled { _ in order.withLock { $0.append("small") } }
        try await eventually("all are read") { order.withLock { $0.count == 21 } }
        #expect(order.withLock { $0.firstIndex(of: "small") } ?? 21 <= 2)
    }

    @Test func `connections take turns`() async throws {
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
