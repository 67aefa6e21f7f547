internal import Concurrency
package import MediaFolder
package import QuickConnect
internal import Synchronization

/// The media folder, with libsndfile's information about its files.
///
/// Everything runs on one thread, which is abandoned if the disk does not answer. The contents of a file are examined
/// once, and again when the file has changed.
package final class ALSAMediaLibrary: MediaLibrary {
    private struct Known: Sendable {
        let stamp: MediaFolder.Stamp
        let seconds: Double?
        let format: String?
    }

    private let folder: MediaFolder
    private let owners: MediaOwners
    private let player: ALSAFilePlayer
    private let recorder: ALSARecorder
    private let thread: WatchedThread
    private let known = Mutex<[MediaName: Known]>([:])

    /// - Parameters:
    ///   - player: knows which files are playing.
    ///   - recorder: knows which files are being recorded.
    ///   - answer: how long the disk may take for one file.
    package init(
        folder: MediaFolder,
        player: ALSAFilePlayer,
        recorder: ALSARecorder,
        answer: Duration = .seconds(5)
    ) {
        self.folder = folder
        self.player = player
        self.recorder = recorder
        owners = recorder.owners
        thread = WatchedThread(name: "qc-media", subject: "the disk", deadline: answer)
    }

    package func list() -> Promise<[MediaFile]> {
        run("listing the media folder") { () throws(CommandError) in
            let entries = try self.folder.list()
            var accounts = AccountNames(self.owners)
            let files = entries.map { entry in
                _ = self.thread.proceed(to: "reading '\(entry.name)'")
                return self.file(entry, &accounts)
            }
            let names = Set(entries.map(\.name))
            self.known.withLock { known in known = known.filter { names.contains($0.key) } }
            self.owners.dropGone(butFor: names)
            return files
        }
    }

    private func file(_ entry: MediaFolder.Entry, _ accounts: inout AccountNames) -> MediaFile {
        let known = known.withLock { $0[entry.name] }.flatMap { $0.stamp == entry.stamp ? $0 : nil } ?? read(entry)
        let owner = owners.owner(of: entry.name)
        return MediaFile(
            name: entry.name.text,
            bytes: entry.bytes,
            seconds: known.seconds,
            format: known.format,
            owner: owner,
            account: accounts[owner],
            isShared: owners.isShared(entry.name)
        )
    }

    private func read(_ entry: MediaFolder.Entry) -> Known {
        let read: Known
        if let file = try? folder.open(entry.name), let sound = try? SoundFile(file) {
            read = Known(stamp: entry.stamp, seconds: sound.duration?.inMilliseconds, format: sound.format)
        } else {
            read = Known(stamp: entry.stamp, seconds: nil, format: nil)
        }
        known.withLock { $0[entry.name] = read }
        return read
    }

    package func remove(_ file: String, for rights: FileRights) -> Promise<Void> {
        let name: MediaName
        do throws(CommandError) {
            name = try MediaName(file, field: "/1")
            if player.isPlaying(name) { throw CommandError(.busy, "'\(name)' plays, or is paused; stop it first") }
            if recorder.isRecording(name) { throw CommandError(.busy, "'\(name)' is being recorded; stop it first") }
        } catch {
            return .attempt { _ throws(CommandError) in throw error }
        }
        return run("removing '\(name)'") { () throws(CommandError) in try self.owners.remove(name, for: rights) }
    }

    package func close() async { await thread.end() }

    private func run<Value: Sendable>(
        _ step: String,
        _ work: @escaping @Sendable () throws(CommandError) -> Value
    ) -> Promise<Value> {
        let promise = Promise<Value>()
        thread.run(step) {
            promise.settle(work)
        } orElse: {
            promise.fail($0)
        }
        return promise
    }
}

/// The names of owners' accounts, each looked up once.
private struct AccountNames {
    private let owners: MediaOwners
    private var names: [Owner: String?] = [:]

    init(_ owners: MediaOwners) { self.owners = owners }

    subscript(owner: Owner) -> String? {
        mutating get {
            if let name = names[owner] { return name }
            let name = owners.accountName(of: owner)
            names[owner] = .some(name)
            return name
        }
    }
}
