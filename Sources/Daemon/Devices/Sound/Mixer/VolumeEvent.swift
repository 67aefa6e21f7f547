internal import Concurrency
package import JSON
internal import Logging
package import QuickConnect
internal import Synchronization

/// The event `volumeState`: `{"volume", "muted"}`, each change once, by whatever program.
///
/// The mixer is open only while somebody subscribes, on a thread that sleeps until ALSA reports a change. A mixer that
/// cannot be opened, or goes away, is tried again at growing intervals; changes in between are published then.
package final class VolumeEvent: EventSource {
    private struct State {
        var hub: EventHub?
        /// The last known volume: the last one published, or the one when somebody subscribed.
        var last: Volume?
        /// Whether the thread sees each change.
        var isWatching = false
        /// How often a volume was reported while the thread was not watching.
        var notes = 0
        /// Why there will never be such an event, until a mixer is found after all.
        var lack: CommandError?
    }

    package let name = "volumeState"
    private let output: ALSAOutput
    private let logger: Logger
    private let state = Mutex(State())
    private let thread = WantedThread("qc-mixer")

    init(_ output: ALSAOutput, logger: Logger) {
        self.output = output
        self.logger = logger
    }

    package func check(options: JSONObject) throws(CommandError) {
        guard options.isEmpty else { throw CommandError(.invalid, "the event '\(name)' takes no options") }
        if let lack = state.withLock({ $0.lack }) { throw lack }
    }

    package func start(publishingTo hub: EventHub) {
        switch output {
        case .simulated(let speaker):
            let volume = speaker.volume(applying: nil)
            state.withLock { ($0.hub, $0.last) = (hub, volume) }
        case .named(let pcm):
            state.withLock { state in
                state.hub = hub
                // A thread that has not noticed that there were no subscribers for a moment has seen all changes.
                if !state.isWatching { state.last = nil }
            }
            wakeThread(PCMMixer(pcm: pcm))
        }
    }

    package func stop() {
        state.withLock { $0.hub = nil }
        thread.wake()
    }

    /// Ends the thread, and waits a moment for it.
    func close() async {
        stop()
        await thread.ended(within: .seconds(1))
    }
}

// The known volume. Events must be sent in the order of the readings, so they are sent under the lock; sending never
// blocks.
extension VolumeEvent {
    /// Whether code that changes the volume must first report what it was.
    var lacksBeginning: Bool { state.withLock { $0.hub != nil && $0.last == nil } }

    /// Reports a volume that was read or set while the thread may not be watching yet.
    func note(_ volume: Volume) {
        state.withLock { state in
            state.lack = nil
            guard !state.isWatching else { return }
            state.notes += 1
            Self.report(volume, name, &state)
        }
    }

    private static func report(_ volume: Volume, _ name: String, _ state: inout State) {
        guard state.last != volume else { return }
        let isChange = state.last != nil
        state.last = volume
        if isChange, let hub = state.hub { hub.publish(Event(name, volume.json, kind: .sensor)) }
    }
}

// These functions run on the thread.
extension VolumeEvent {
    private static let shortestPause = Duration.seconds(1)
    private static let maxPause = Duration.seconds(60)

    private func wakeThread(_ mixer: PCMMixer) {
        do throws(Interruption) {
            try thread.start(while: { self.isWanted }) { self.watch(mixer, $0) }
        } catch {
            logger.warning("the volume cannot be watched: \(error)")
        }
    }

    private var isWanted: Bool { state.withLock { $0.hub != nil } }

    private func watch(_ mixer: PCMMixer, _ waker: Waker) {
        var pause = Self.shortestPause
        while isWanted {
            do throws(CommandError) {
                let notes = state.withLock { $0.notes }
                let opened = try mixer.openToWatch()
                guard try begins(opened, mixer, after: notes) else { continue }
                pause = Self.shortestPause
                try follow(opened, mixer, waker)
            } catch {
                // Before the error is published, so that subscribers find this state.
                state.withLock { state in
                    state.isWatching = false
                    if error.code == .unsupported { state.lack = error }
                }
                if pause == Self.shortestPause { logger.warning("the volume cannot be watched: \(error.message)") }
                sleep(waker, after: error, &pause)
            }
        }
        state.withLock { $0.isWatching = false }
    }

    /// Publishes the mixer's volume, and records that the thread watches from here on.
    /// - Returns: false if a change was reported since `notes`. This mixer's first reading may be older, and would be
    ///   published as a change back.
    private func begins(
        _ opened: borrowing ControlMixer,
        _ mixer: PCMMixer,
        after notes: Int
    ) throws(CommandError) -> Bool {
        let volume = try mixer.volume(of: opened, applying: nil)
        return state.withLock { state in
            guard state.notes == notes else { return false }
            (state.isWatching, state.lack) = (true, nil)
            Self.report(volume, name, &state)
            return true
        }
    }

    /// Publishes each change as long as anybody subscribes.
    private func follow(
        _ opened: borrowing ControlMixer,
        _ mixer: PCMMixer,
        _ waker: Waker
    ) throws(CommandError) {
        var entries = try mixer.pollEntries(opened)
        while true {
            try mixer.sleep(opened, &entries, waker)
            guard isWanted else { return }
            let volume = try mixer.volume(of: opened, applying: nil)
            state.withLock { Self.report(volume, name, &$0) }
        }
    }

    /// Waits until the next attempt.
    private func sleep(_ waker: Waker, after error: CommandError, _ pause: inout Duration) {
        var end: ContinuousClock.Instant?
        if error.code != .unsupported {
            end = .now + pause
            pause = min(pause * 2, Self.maxPause)
        }
        while isWanted, end.map({ .now < $0 }) ?? true { _ = waker.sleep(until: end) }
    }
}

extension Volume {
    /// `{"volume", "muted"}`.
    fileprivate var json: JSONValue { ["volume": .integer(Int64(percent)), "muted": .bool(isMuted)] }
}
