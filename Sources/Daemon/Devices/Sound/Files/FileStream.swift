internal import Concurrency

/// A ring buffer between the thread that reads a file and the one that plays it: as a voice it never blocks, however
/// slow the disk is.
final class FileStream: VoiceSource {
    private struct State: Sendable {
        var ring: [Float]
        /// The index of the first frame.
        var first = 0
        /// Frames in the ring.
        var count = 0
        /// Frames passed on so far.
        var given = 0
        /// Whether the last frame has been put into the ring.
        var isComplete = false
        var isHeld = false
        var isOver = false
    }

    let channels: Int
    let rate: Int
    private let gain: Float
    private let capacity: Int
    private let monitor: Monitor<State>

    /// - Parameters:
    ///   - gain: the factor for every sample.
    ///   - seconds: how many seconds of sound are read ahead.
    init(channels: Int, rate: Int, gain: Float, ahead seconds: Int = 2) {
        self.channels = channels
        self.rate = rate
        self.gain = gain
        capacity = seconds * rate
        monitor = Monitor(State(ring: [Float](repeating: 0, count: seconds * rate * channels)))
    }
}

// For the thread that reads the file.
extension FileStream {
    /// Puts frames in, and waits until there is room.
    /// - Parameter samples: interleaved, no more frames than half of what it holds.
    /// - Returns: whether more is wanted.
    func append(_ samples: ArraySlice<Float>) -> Bool {
        let frames = samples.count / channels
        return monitor.wait { state in
            if state.isOver { return .go(false) }
            guard capacity - state.count >= frames else { return .wait(until: nil) }
            var target = (state.first + state.count) % capacity * channels
            for sample in samples {
                state.ring[target] = sample
                target = target + 1 == state.ring.count ? 0 : target + 1
            }
            state.count += frames
            return .go(true)
        }
    }

    /// The last frame has been added.
    func complete() { monitor.withLock { $0.isComplete = true } }
}

// For the thread that plays.
extension FileStream {
    var isAtEnd: Bool {
        monitor.withLock { $0.isHeld || $0.isOver || ($0.isComplete && $0.count == 0) }
    }

    func read(_ count: Int, into buffer: inout [Float]) -> Int {
        let (frames, hasRoom) = monitor.withLock { state -> (Int, Bool) in
            guard !state.isHeld, !state.isOver else { return (0, false) }
            let frames = min(count, state.count)
            var source = state.first * channels
            for index in 0..<frames * channels {
                buffer[index] = state.ring[source] * gain
                source = source + 1 == state.ring.count ? 0 : source + 1
            }
            state.first = (state.first + frames) % capacity
            state.count -= frames
            state.given += frames
            // Not at each period: so the reading thread wakes only once a second.
            return (frames, state.count <= capacity / 2)
        }
        if hasRoom { monitor.notify() }
        return frames
    }
}

// For the code that decides what plays.
extension FileStream {
    /// Seconds of the file that were passed on so far.
    var given: Double { Double(monitor.withLock { $0.given }) / Double(rate) }

    /// Whether the last frame has been passed on.
    var isDrained: Bool { monitor.withLock { $0.isComplete && $0.count == 0 } }

    /// While held, it gives nothing and reports that it is at its end, so that its voice ends; its contents stay.
    func hold(_ isHeld: Bool) { monitor.withLock { $0.isHeld = isHeld } }

    /// Ends it for both threads.
    func end() {
        monitor.withLock { $0.isOver = true }
        monitor.notify()
    }
}
