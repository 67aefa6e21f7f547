internal import Glibc
internal import JSON
internal import Linux
package import Logging
package import QuickConnect
internal import Synchronization

/// The owners of the files in the media folder: who may change a file, and how much each owner may store.
///
/// All files get and lose their names through it. Owners are stored in an index beside the media folder, which is
/// rewritten at each change (``FileText/replace(_:with:)``). Everything except ``owner(of:)`` may block.
package final class MediaOwners: Sendable {
    /// How much each owner may store in the media folder, including unfinished files. Root and the daemon's user have
    /// no quota.
    package struct Quota: Sendable {
        package var bytes: Int
        package var files: Int

        package init(bytes: Int = 1 << 30, files: Int = 1000) {
            self.bytes = bytes
            self.files = files
        }
    }

    /// A name for which a file is being written.
    struct Writing {
        let number: UInt64
        let owner: Owner
        var bytes = 0
    }

    struct State {
        var index = OwnerIndex()
        var writing: [MediaName: Writing] = [:]
        var count: UInt64 = 0
        /// Bytes of each owner's files, measured when the owner last began one.
        var used: [Owner: Int] = [:]
    }

    let folder: MediaFolder
    let path: String?
    private let quota: Quota
    private let account: @Sendable (UInt32) -> String?
    let logger: Logger
    let state = Mutex(State())
    /// Held while files get or lose their names, so that an owner does not change after a check. Taken before `state`,
    /// and never on an event loop. Its value says whether the index may be written: only after it has been read.
    let changes = Mutex(false)

    /// - Parameters:
    ///   - path: the file of the index; nil stores none.
    ///   - account: looks up the name of a user, and may block; nil if it has none.
    ///   - logger: gets a line if the index cannot be read or written.
    package init(
        _ folder: MediaFolder,
        index path: String?,
        quota: Quota = Quota(),
        account: @escaping @Sendable (UInt32) -> String? = { _ in nil },
        logger: Logger
    ) {
        self.folder = folder
        self.path = path
        self.quota = quota
        self.account = account
        self.logger = logger
    }

    /// Never blocks.
    package func owner(of name: MediaName) -> Owner { entry(of: name).owner }

    /// Whether its owner shares it with everybody. Never blocks.
    package func isShared(_ name: MediaName) -> Bool { entry(of: name).isShared }

    private func entry(of name: MediaName) -> OwnerIndex.Entry { state.withLock { $0.index.entry(of: name) } }

    /// The name of an owner's account; nil if there is none.
    package func accountName(of owner: Owner) -> String? { owner.uid.flatMap(account) }
}

// Existing files.
extension MediaOwners {
    /// Opens a file to read its bytes.
    /// - Throws: `notFound`, `denied`, `unavailable`.
    func open(_ name: MediaName, for rights: FileRights) throws(CommandError) -> OpenFile {
        try changes.withLock { _ throws(CommandError) in
            let file = try folder.open(name)
            try check(name, rights, to: .read)
            return file
        }
    }

    /// Deletes a file.
    /// - Throws: `notFound`, `denied`, `unavailable`.
    package func remove(_ name: MediaName, for rights: FileRights) throws(CommandError) {
        try changes.withLock { isKept throws(CommandError) in
            _ = try folder.open(name)
            try check(name, rights, to: .remove)
            try folder.remove(name)
            change(isKept) { $0.forget(name) }
        }
    }

    private enum Verb: String {
        case read, remove, replace
    }

    private func check(_ name: MediaName, _ rights: FileRights, to verb: Verb) throws(CommandError) {
        let entry = entry(of: name)
        guard !rights.mayChange(fileOf: entry.owner), !entry.isShared || verb == .replace else { return }
        let account = accountName(of: entry.owner)
        let words = account.map { "\($0) (\(entry.owner))" } ?? entry.owner.text
        throw CommandError(
            .denied,
            """
            '\(name)' belongs to \(words): only its owner and root may \(verb.rawValue) it; \
            \(remedy(verb, rights.caller.owner, isShared: entry.isShared))
            """,
            details: ["file": .string(name.text), "owner": entry.owner.json(account: account)]
        )
    }

    private func remedy(_ verb: Verb, _ caller: Owner, isShared: Bool) -> String {
        if verb == .replace { return isShared ? "remove it first, or choose another name" : "choose another name" }
        let name = caller.gateway == nil ? accountName(of: caller) ?? "NAME" : "\"\(caller.text)\""
        return """
            make it with {"shared": true} (rec, media write), so that all may, or allow this in a mapping: \
            «media: {verbs: {\(verb.rawValue): {users: [\(name)]}}}»
            """
    }

    /// Removes the entries of files that are gone.
    /// - Parameter listed: files that were just seen and are not checked again.
    package func dropGone(butFor listed: Set<MediaName> = []) {
        let names = state.withLock { state in state.index.files.keys.filter { !listed.contains($0) } }
        guard !names.isEmpty else { return }
        changes.withLock { isKept in
            // If there is an error, the file may still exist.
            let gone = names.filter { name in (try? folder.holds(name)) == false }
            // If nothing is there at all, the disk is not mounted: nobody must lose the ownership of what is on it.
            guard !gone.isEmpty, !listed.isEmpty || gone.count < names.count else { return }
            change(isKept) { index in for name in gone { index.forget(name) } }
        }
    }
}

// Files that are being written.
extension MediaOwners {
    /// Begins a file. It is hidden until it is published, and its name is reserved until then.
    /// - Throws: `busy` (somebody is writing a file of that name, or it is a folder), `denied` (another user's file has
    ///   that name), `notFound` (its folder is missing), `tooLarge` (the owner has too many files), `unavailable`.
    package func begin(
        _ name: MediaName,
        _ kind: UnfinishedFile.Kind,
        for rights: FileRights,
        isShared: Bool = false,
        replacing condition: UploadPiece.Condition? = nil
    ) throws(CommandError) -> OwnedFile {
        let owner = rights.caller.owner
        let number = try reserve(name, for: owner)
        do throws(CommandError) {
            try folder.make()
            let status = try folder.status(of: name)
            if status != nil { try check(name, rights, to: .replace) }
            try condition?.check(status, of: name)
            if !rights.isPrivileged { try measure(owner, beginning: name) }
            let file = try folder.create(name, kind)
            let entry = OwnerIndex.Entry(owner: owner, isShared: isShared)
            let quota = rights.isPrivileged ? nil : quota.bytes
            return OwnedFile(file, entry, number, quota: quota, replacing: condition, self)
        } catch {
            release(name, number)
            throw error
        }
    }

    private func reserve(_ name: MediaName, for owner: Owner) throws(CommandError) -> UInt64 {
        try state.withLock { state throws(CommandError) in
            guard state.writing[name] == nil else { throw CommandError(.busy, "'\(name)' is being written") }
            state.count += 1
            state.writing[name] = Writing(number: state.count, owner: owner)
            return state.count
        }
    }

    fileprivate func release(_ name: MediaName, _ number: UInt64) {
        state.withLock { if $0.writing[name]?.number == number { $0.writing[name] = nil } }
    }

    /// Measures an owner's files, which may have been changed by hand.
    private func measure(_ owner: Owner, beginning new: MediaName) throws(CommandError) {
        let names = state.withLock { $0.index.files.filter { $0.value.owner == owner }.map(\.key) }
        var (bytes, files) = (0, 0)
        for name in names {
            guard let status = try folder.status(of: name) else { continue }
            bytes += Int(status.st_size)
            if name != new { files += 1 }
        }
        let count = state.withLock { state in
            state.used[owner] = bytes
            return files + state.writing.values.count { $0.owner == owner }
        }
        guard count > quota.files else { return }
        throw CommandError(
            .tooLarge,
            "\(owner) has \(count - 1) files in the media folder, of at most \(quota.files) (recording.quotaFiles)"
        )
    }

    /// Records the size of a file.
    /// - Throws: `tooLarge` if its owner then exceeds the quota; then it is not recorded.
    fileprivate func note(_ bytes: Int, of name: MediaName, _ number: UInt64, _ most: Int?) throws(CommandError) {
        let problem = state.withLock { state -> CommandError? in
            guard let writing = state.writing[name], writing.number == number else { return nil }
            let owner = writing.owner
            let others = state.writing.filter { $0.value.owner == owner && $0.key != name }
            let sum = state.used[owner, default: 0] + others.values.reduce(0) { $0 + $1.bytes } + bytes
            if let most, sum > most {
                let words = "\(sum.inMegabytes) MB, of at most \(most.inMegabytes) MB (recording.quotaBytes)"
                return CommandError(.tooLarge, "with '\(name)' \(owner) would have \(words) in the media folder")
            }
            state.writing[name]?.bytes = bytes
            return nil
        }
        if let problem { throw problem }
    }

    /// Stores the owner of a file before the file is complete.
    fileprivate func announce(_ name: MediaName, as entry: OwnerIndex.Entry) {
        changes.withLock { isKept in change(isKept) { $0.announce(name, as: entry) } }
    }

    /// Discards a file that will not be completed.
    func discard(_ file: UnfinishedFile) {
        changes.withLock { isKept in
            file.discard()
            change(isKept) { $0.takeBack(file.name) }
        }
    }

    /// Gives a file its name and its owner.
    func publish(
        _ file: UnfinishedFile,
        as entry: OwnerIndex.Entry,
        replacing condition: UploadPiece.Condition? = nil
    ) throws(CommandError) -> MediaPiece {
        // The slow part is done before other callers have to wait.
        try file.sync()
        return try changes.withLock { isKept throws(CommandError) in
            if let condition { try condition.check(folder.status(of: file.name), of: file.name) }
            change(isKept) { $0.announce(file.name, as: entry) }
            try file.publish()
            change(isKept) { $0.commit(file.name, as: entry) }
            state.withLock { $0.used[entry.owner, default: 0] += file.file.bytes }
            let size = file.file.bytes
            return MediaPiece(
                data: "",
                offset: size,
                size: size,
                tag: file.file.status?.tag ?? "",
                modified: file.file.status?.modified ?? 0
            )
        }
    }
}

/// A file that is being written, with its future owner.
package final class OwnedFile: Sendable {
    package let unfinished: UnfinishedFile
    private let entry: OwnerIndex.Entry
    private let number: UInt64
    private let quota: Int?
    private let condition: UploadPiece.Condition?
    private let owners: MediaOwners

    package var name: MediaName { unfinished.name }

    fileprivate init(
        _ unfinished: UnfinishedFile,
        _ entry: OwnerIndex.Entry,
        _ number: UInt64,
        quota: Int?,
        replacing condition: UploadPiece.Condition?,
        _ owners: MediaOwners
    ) {
        (self.unfinished, self.entry, self.number, self.quota) = (unfinished, entry, number, quota)
        (self.condition, self.owners) = (condition, owners)
    }

    deinit { owners.release(name, number) }

    /// Stores its owner, so that the next start knows it if this process ends before the file is complete.
    package func announce() { owners.announce(name, as: entry) }

    /// Records its size.
    /// - Throws: `tooLarge` if its owner then exceeds the quota.
    package func grow(to bytes: Int) throws(CommandError) { try owners.note(bytes, of: name, number, quota) }

    /// Gives the complete and synced file its name, replacing an older one.
    @discardableResult
    package func publish() throws(CommandError) -> MediaPiece {
        defer { leave() }
        do throws(CommandError) { return try owners.publish(unfinished, as: entry, replacing: condition) } catch {
            if unfinished.kind == .upload { owners.discard(unfinished) }
            throw error
        }
    }

    /// Deletes it.
    package func discard() {
        owners.discard(unfinished)
        leave()
    }

    /// Leaves it for the next start to recover. The name is free for others.
    package func leave() { owners.release(name, number) }
}
