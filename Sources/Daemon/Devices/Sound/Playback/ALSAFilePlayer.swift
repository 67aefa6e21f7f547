internal import Concurrency
package import JSON
package import Logging
package import MediaFolder
package import QuickConnect
internal import Synchronization

/// Plays files of the media folder, mixed into the same stream as the system sounds.
///
/// While a file plays, a thread of its own reads two seconds ahead, so a file of any length takes the same memory, and
/// a slow disk delays no other sound. A paused file does not keep the PCM open.
package final class ALSAFilePlayer: FilePlayer {
    private let folder: MediaFolder
    private let engine: PlaybackEngine
    private let writer: (any MediaWriter)?
    private let logger: Logger
    private let playing = Mutex<[MediaName: FilePlayback]>([:])

    /// The event `playState`: `{"file", "state": "playing"|"paused"|"stopped"|"ended"|"failed", "position",
    /// "duration"}`, times in seconds, `duration` null if the file does not say; with `failed` also `code` and
    /// `message`. Sent at each change, and at most ten times a second while a file plays.
    package let events = DeviceEvent("playState")

    /// How many files may be playing or paused at the same time. Each has a thread.
    package static let limit = 32

    /// - Parameters:
    ///   - player: the player into whose stream the files are mixed.
    ///   - writer: knows whether a file is being closed; playing waits for that.
    package init(
        folder: MediaFolder,
        mixedInto player: ALSASoundPlayer,
        writtenBy writer: (any MediaWriter)? = nil,
        logger: Logger
    ) {
        self.folder = folder
        engine = player.engine
        self.writer = writer
        self.logger = logger
    }

    package func start(_ file: String, _ options: PlayOptions, for caller: Caller) -> Promise<Void> {
        .attempt { promise throws(CommandError) in
            let name = try MediaName(file)
            let playback = FilePlayback(name, options, caller, engine, promise, self)
            try admit(playback)
            // A recording that was just stopped is not complete yet.
            if let writer { writer.whenClosed(name) { self.read(playback) } } else { read(playback) }
        }
    }

    private func read(_ playback: FilePlayback) {
        guard playback.isWanted else { return playback.stop(Promise()) }
        let code = PThread.start("qc-file") { [folder] in playback.run(folder) }
        if code != 0 { playback.fail(CommandError(.unavailable, "no thread could be started (\(code))")) }
    }

    private func admit(_ playback: FilePlayback) throws(CommandError) {
        let name = playback.name
        // A file whose callers no longer wait, while it still waits for its data, is replaced.
        let other = playing.withLock { $0[name] }
        if let other, !other.isWanted { other.stop(Promise()) }
        try playing.withLock { playing throws(CommandError) in
            if let other = playing[name] {
                let state = other.isPaused ? "is paused" : "plays already"
                let stop = JSONValue.array([.string("\(name)"), "stop"]).text
                throw CommandError(.busy, "'\(name)' \(state); stop it first: play \(stop)")
            }
            guard playing.count < Self.limit else {
                throw CommandError(.overloaded, "\(Self.limit) files are already playing or paused, the maximum")
            }
            playing[name] = playback
        }
    }

    package func change(
        _ file: String,
        _ change: PlayChange,
        mayEnd: @escaping @Sendable (Caller) -> Bool
    ) -> Promise<Void> {
        .attempt { promise throws(CommandError) in
            let name = try MediaName(file)
            guard let playback = playing.withLock({ $0[name] }) else {
                throw CommandError(.notFound, "'\(name)' neither plays nor is paused")
            }
            guard mayEnd(playback.caller) else {
                throw CommandError(.denied, "'\(name)' was started by \(playback.caller), another user")
            }
            switch change {
            case .stop: playback.stop(promise)
            case .pause: playback.pause(promise)
            case .resume: playback.resume(promise)
            }
        }
    }

    /// `"playing"`: for each file `{"file", "state", "position", "duration", "for"}`, times in seconds.
    package func state() -> JSONObject {
        let playbacks = playing.withLock { $0.values.sorted { $0.number < $1.number } }
        return ["playing": .array(playbacks.map(\.json))]
    }

    package func stop(mayEnd: @Sendable (Caller) -> Bool) {
        let playbacks = playing.withLock { Array($0.values) }
        for playback in playbacks where mayEnd(playback.caller) { playback.stop(Promise()) }
    }

    /// Ends all files. The owner of the shared stream closes the stream.
    package func close() { stop { _ in true } }

    /// Whether a file is playing or paused.
    func isPlaying(_ name: MediaName) -> Bool { playing.withLock { $0[name] != nil } }

    /// A file has ended.
    func remove(_ playback: FilePlayback, _ failure: CommandError?) {
        playing.withLock { playing in
            if playing[playback.name] === playback { playing[playback.name] = nil }
        }
        if let failure, failure.code != .cancelled { logger.warning("\(playback.name): \(failure.message)") }
    }
}
