internal import Concurrency
internal import QuickConnect

/// Passes the captured sound of one recording from the capturing thread to the writing thread.
///
/// The capturing thread never waits: if the writer is behind by more than ``longest``, the newest frames are dropped
/// and counted.
final class CaptureTap: Sendable {
    private struct State: Sendable {
        var format: StreamFormat?
        var blocks: [[Float]] = []
        var queuedFrames = 0
        var lostFrames = 0
        var ending: Ending?
    }

    enum Ending: Sendable {
        case stopped
        case failed(CommandError)
    }

    /// The most seconds of sound that it holds, to bridge the delays of a slow disk.
    static let longest = 8

    let wish: StreamWish
    private let monitor = Monitor(State())

    init(rate: Int, channels: Int) { wish = .capture(rate: rate, channels: channels) }

    /// Sets the format of what follows. Called once, on the capturing thread.
    func begin(_ format: StreamFormat) {
        monitor.withLock { $0.format = format }
        monitor.notify()
    }

    /// Called on the capturing thread.
    func append(_ samples: [Float]) {
        monitor.withLock { state in
            guard let format = state.format, state.ending == nil else { return }
            let frames = samples.count / format.channels
            guard state.queuedFrames + frames <= Self.longest * format.rate else {
                state.lostFrames += frames
                return
            }
            state.blocks.append(samples)
            state.queuedFrames += frames
        }
        monitor.notify()
    }

    /// Ends the tap: no more sound is wanted, or none comes. The first ending counts.
    func end(_ ending: Ending) {
        monitor.withLock { if $0.ending == nil { $0.ending = ending } }
        monitor.notify()
    }

    var hasEnded: Bool { monitor.withLock { $0.ending != nil } }

    /// Seconds that were lost because the writer was behind.
    var lostSeconds: Double {
        monitor.withLock { state in state.format.map { $0.seconds(state.lostFrames) } ?? 0 }
    }

    /// Waits for the first frames. Nil if it was stopped before.
    func format() throws(CommandError) -> StreamFormat? {
        let result = monitor.wait { state -> Monitor<State>.Verdict<Result<StreamFormat?, CommandError>> in
            if let format = state.format, !state.blocks.isEmpty { return .go(.success(format)) }
            switch state.ending {
            case .failed(let error): return .go(.failure(error))
            case .stopped: return .go(.success(nil))
            case nil: return .wait(until: nil)
            }
        }
        return try result.get()
    }

    /// Waits for the next block, interleaved; nil at the end.
    func next() -> [Float]? {
        monitor.wait { state in
            guard let block = state.blocks.first else { return state.ending == nil ? .wait(until: nil) : .go(nil) }
            state.blocks.removeFirst()
            state.queuedFrames -= block.count / max(1, state.format?.channels ?? 1)
            return .go(block)
        }
    }

    /// Takes everything in it, as one channel.
    func all() -> (samples: [Float], rate: Int) {
        monitor.withLock { state in
            guard let format = state.format else { return ([], 1) }
            defer { (state.blocks, state.queuedFrames) = ([], 0) }
            return (Channels.converted(Array(state.blocks.joined()), from: format.channels, to: 1), format.rate)
        }
    }

    /// Why it ended by itself; nil if it has not ended, or was stopped.
    var failure: CommandError? {
        monitor.withLock { if case .failed(let error) = $0.ending { error } else { nil } }
    }
}

/// A tap as a source that waits for its sound, with the requested number of channels.
struct TapSource: VoiceSource {
    private let tap: CaptureTap
    private let captured: Int
    let channels: Int
    let rate: Int
    /// Samples taken from the tap but not read yet.
    private var rest: ArraySlice<Float> = []
    private(set) var isAtEnd = false

    init(_ tap: CaptureTap, _ format: StreamFormat, channels: Int) {
        self.tap = tap
        captured = format.channels
        rate = format.rate
        self.channels = channels
    }

    mutating func read(_ count: Int, into buffer: inout [Float]) -> Int {
        var frames = 0
        while frames < count, !isAtEnd {
            if rest.isEmpty {
                guard let block = tap.next() else {
                    isAtEnd = true
                    break
                }
                rest = Channels.converted(block, from: captured, to: channels)[...]
            }
            let taken = min(count - frames, rest.count / channels)
            for (offset, sample) in rest.prefix(taken * channels).enumerated() {
                buffer[frames * channels + offset] = sample
            }
            rest = rest.dropFirst(taken * channels)
            frames += taken
        }
        return frames
    }
}
