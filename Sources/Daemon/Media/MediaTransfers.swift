internal import Concurrency
internal import Glibc
internal import JSON
internal import Linux
package import QuickConnect
internal import Synchronization

/// Reads and writes the bytes of the media folder's files for clients.
///
/// Everything runs on one thread, which is abandoned if the disk does not answer. An upload stays hidden in its folder
/// until its last piece, and belongs to its connection; it is discarded if it gets no piece for some time.
package final class MediaTransfers: MediaTransfer {
    /// How many files one connection, and all users, may write at the same time. Of the latter each user has a share.
    package static let uploadsPerConnection = 4
    package static let uploads = 64
    /// How many more root and the daemon's user may write.
    package static let reservedUploads = 8

    private let folder: MediaFolder
    private let owners: MediaOwners
    private let reserve: DiskReserve
    private let idleTime: Duration
    private let scripts: String?
    private let thread: WatchedThread
    private let turns: MediaTurns
    private let running = Mutex<[ObjectIdentifier: [MediaName: Upload]]>([:])

    /// - Parameters:
    ///   - answer: how long the disk may take for one piece.
    ///   - idleTime: how long an upload may go without a piece.
    ///   - scripts: the name of the account of all scripts, which may have half of the uploads.
    package init(
        _ folder: MediaFolder,
        owners: MediaOwners,
        reserve: DiskReserve,
        answer: Duration = .seconds(5),
        idleTime: Duration = .seconds(60),
        scripts: String? = nil
    ) {
        self.folder = folder
        self.owners = owners
        self.reserve = reserve
        self.idleTime = idleTime
        self.scripts = scripts
        thread = WatchedThread(name: "qc-bytes", subject: "the disk", deadline: answer)
        turns = MediaTurns(on: thread)
    }

    package func read(
        _ file: String,
        from offset: Int,
        atMost bytes: Int,
        for rights: FileRights,
        on connection: any CallConnection
    ) -> Promise<MediaPiece> {
        run("reading '\(file.shortened)'", of: connection, rights) { () throws(CommandError) in
            // Avoids a reply of a megabyte that nobody would read.
            if connection.isClosed { throw CommandError(.cancelled, "the connection closed") }
            let name = try MediaName(file, field: "/1")
            return try self.owners.open(name, for: rights).piece(from: offset, atMost: bytes, of: name)
        }
    }

    package func write(
        _ piece: UploadPiece,
        for rights: FileRights,
        on connection: any CallConnection
    ) -> Promise<MediaPiece?> {
        run("writing '\(piece.file.shortened)'", of: connection, rights) { () throws(CommandError) in
            try self.write(piece, rights, connection)
        }
    }

    /// Ends all uploads. Files that the disk does not delete in time are deleted at the next start.
    package func close() async {
        let job = WatchedThread.Job(
            step: "removing what was not written to its end",
            work: {
                let uploads = self.running.withLock { running in
                    defer { running = [:] }
                    return running.values.flatMap(\.values)
                }
                for upload in uploads { upload.discard() }
            },
            giveUp: { (_: CommandError) in }
        )
        try? thread.run(job)
        await thread.end()
    }

    private func run<Value: Sendable>(
        _ step: String,
        of connection: any CallConnection,
        _ rights: FileRights,
        _ work: @escaping @Sendable () throws(CommandError) -> Value
    ) -> Promise<Value> {
        let promise = Promise<Value>()
        let job = WatchedThread.Job(
            step: step,
            work: { promise.settle(work) },
            giveUp: { promise.fail($0) }
        )
        turns.add(job, of: ObjectIdentifier(connection), rights.caller.owner)
        return promise
    }
}

// These functions run on the thread.
extension MediaTransfers {
    private func write(
        _ piece: UploadPiece,
        _ rights: FileRights,
        _ connection: any CallConnection
    ) throws(CommandError) -> MediaPiece? {
        let name = try MediaName(piece.file, field: "/1")
        let client = ObjectIdentifier(connection)
        if piece.begins { take(name, of: client)?.discard() }
        let upload = running.withLock { $0[client]?[name] }
        let bytes = try bytes(of: piece, name, at: upload?.offset ?? 0)
        let going = if let upload { upload } else { try begin(name, piece, rights, connection) }
        do throws(CommandError) {
            let size = upload == nil ? piece.size : nil
            if let size { try going.expect(size) }
            if let problem = reserve.problem(in: folder, adding: size ?? bytes.count) { throw problem }
            try going.append(bytes)
        } catch {
            // A later piece may be sent again; a failed first piece leaves nothing.
            if going.offset == 0 { take(name, of: client)?.discard() }
            throw error
        }
        guard piece.ends else { return nil }
        guard let whole = take(name, of: client) else {
            throw CommandError(.cancelled, "the upload of '\(name)' was ended")
        }
        return try whole.publish()
    }

    /// The piece's bytes, if they and their position fit.
    private func bytes(of piece: UploadPiece, _ name: MediaName, at offset: Int) throws(CommandError) -> [UInt8] {
        var problems = FieldProblems()
        if piece.offset != offset {
            let place = offset == 0 ? "where a file begins" : "where the upload of '\(name)' goes on"
            problems.add("/2", expected: "offset, \(offset), \(place)", got: "the number \(piece.offset)")
        }
        let text = piece.data.stringValue
        let fits = (text?.utf8.count ?? 0) <= Base64.length(ofBytes: MediaPiece.maxBytes)
        var bytes = fits ? text.flatMap(Base64.decode) : nil
        let most = MediaPiece.maxBytes
        if let count = bytes?.count, count > most { bytes = nil }
        if bytes == nil {
            let expected = "data, at most \(most) bytes in Base64 (RFC 4648, with padding, nothing else)"
            problems.add("/3", expected: expected, got: piece.data.gist)
        }
        guard let bytes, problems.isEmpty else { throw problems.error }
        return bytes
    }

    private func begin(
        _ name: MediaName,
        _ piece: UploadPiece,
        _ rights: FileRights,
        _ connection: any CallConnection
    ) throws(CommandError) -> Upload {
        let client = ObjectIdentifier(connection)
        try checkRoom(for: client, of: rights)
        let file = try owners.begin(
            name,
            .upload,
            for: rights,
            isShared: piece.isShared,
            replacing: piece.replaces
        )
        let upload = Upload(file, for: rights.caller.owner)
        // In one step, because the client may go at any time and take its uploads with it.
        let isFirst = running.withLock { running in
            defer { running[client, default: [:]][name] = upload }
            return running[client] == nil
        }
        if isFirst { connection.whenClosed { [weak self] in self?.clientIsGone(client) } }
        watch(upload, of: client, for: idleTime)
        return upload
    }

    private func checkRoom(for client: ObjectIdentifier, of rights: FileRights) throws(CommandError) {
        let share = rights.isPrivileged ? Share.whole : share(of: rights.caller.owner)
        let (most, ofUser) = (Self.uploadsPerConnection, share.part(of: Self.uploads))
        let places = Self.uploads + (rights.isPrivileged ? Self.reservedUploads : 0)
        let (own, all) = running.withLock { ($0[client]?.count ?? 0, $0.values.flatMap(\.values)) }
        let user = all.count { $0.owner == rights.caller.owner }
        if own < most, user < ofUser, all.count < places { return }
        let limits = "\(most) of a connection, \(ofUser) of this user and \(Self.uploads) in all"
        throw CommandError(.overloaded, "too many files are being written: at most \(limits) at a time")
    }

    private func share(of owner: Owner) -> Share {
        guard let scripts else { return .quarter }
        return owners.accountName(of: owner) == scripts ? .half : .quarter
    }

    private func take(_ name: MediaName, of client: ObjectIdentifier) -> Upload? {
        running.withLock { $0[client]?.removeValue(forKey: name) }
    }
}

// The end of an upload before its last piece.
extension MediaTransfers {
    /// Never blocks.
    private func clientIsGone(_ client: ObjectIdentifier) {
        let uploads = running.withLock { $0.removeValue(forKey: client) } ?? [:]
        for upload in uploads.values { discard(upload, of: client) }
    }

    /// Queued after the pieces that are being written.
    private func discard(_ upload: Upload, of client: ObjectIdentifier) {
        let job = WatchedThread.Job(
            step: "removing what was written of '\(upload.name)'",
            work: { upload.discard() },
            giveUp: { [self] (_: CommandError) in
                // The disk does not answer now, so it tries again later.
                AlarmThread.shared.ring(after: .seconds(60)) { self.discard(upload, of: client) }
            }
        )
        turns.add(job, of: client, upload.owner)
    }

    /// Checks after a time whether an upload has got a piece.
    private func watch(_ upload: Upload, of client: ObjectIdentifier, for time: Duration) {
        AlarmThread.shared.ring(after: time) { [weak self, weak upload] in
            guard let self, let upload, !upload.isOver else { return }
            let job = WatchedThread.Job(
                step: "looking after an upload",
                work: { self.endIdle(upload, of: client) },
                giveUp: { (_: CommandError) in self.endIdle(upload, of: client) }
            )
            turns.add(job, of: client, upload.owner)
        }
    }

    /// Runs in its client's turn, so that no piece is being written.
    private func endIdle(_ upload: Upload, of client: ObjectIdentifier) {
        guard !upload.isOver, running.withLock({ $0[client]?[upload.name] === upload }) else { return }
        let left = upload.touched + idleTime - .now
        guard left <= .zero else { return watch(upload, of: client, for: left) }
        _ = take(upload.name, of: client)
        discard(upload, of: client)
    }
}

/// An upload in progress, used by one thread at a time.
private final class Upload: Sendable {
    private struct State {
        var offset = 0
        var touched = SuspendingClock.now
        var isOver = false
    }

    private let file: OwnedFile
    let owner: Owner
    private let state = Mutex(State())

    var name: MediaName { file.name }
    /// The offset of the next piece.
    var offset: Int { state.withLock { $0.offset } }
    var touched: SuspendingClock.Instant { state.withLock { $0.touched } }
    var isOver: Bool { state.withLock { $0.isOver } }

    init(_ file: OwnedFile, for owner: Owner) {
        self.file = file
        self.owner = owner
    }

    /// Refuses a file of that size if its owner may not store so much.
    func expect(_ size: Int) throws(CommandError) {
        try file.grow(to: size)
        try file.grow(to: 0)
    }

    func append(_ bytes: [UInt8]) throws(CommandError) {
        let offset = offset
        try file.grow(to: offset + bytes.count)
        do throws(CommandError) { try file.unfinished.write(bytes, at: offset) } catch {
            try file.grow(to: offset)
            throw error
        }
        state.withLock { ($0.offset, $0.touched) = (offset + bytes.count, .now) }
    }

    func publish() throws(CommandError) -> MediaPiece {
        state.withLock { $0.isOver = true }
        return try file.publish()
    }

    func discard() {
        state.withLock { $0.isOver = true }
        file.discard()
    }
}

extension OpenFile {
    /// Reads as much as there is.
    fileprivate func piece(from offset: Int, atMost most: Int, of name: MediaName) throws(CommandError) -> MediaPiece {
        guard let status else { throw SystemCallError("fstat", EIO).commandError(about: name) }
        let size = Int(status.st_size)
        let wanted = max(0, min(most, size - offset))
        guard let bytes = Descriptor.read(offset..<offset + wanted, of: descriptor) else {
            throw SystemCallError("pread").commandError(about: name)
        }
        let data = Base64.encode(bytes)
        return MediaPiece(data: data, offset: offset, size: size, tag: status.tag, modified: status.modified)
    }
}
