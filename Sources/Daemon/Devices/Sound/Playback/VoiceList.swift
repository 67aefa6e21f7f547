internal import JSON
internal import QuickConnect

/// A sound to be played.
struct VoiceRequest: Sendable {
    var source: any VoiceSource
    /// What `state` reports about it, apart from its position; nil if other code reports it.
    var description: JSONObject?
    /// Its length in seconds.
    var seconds: Double
    var caller: Caller
    /// Called repeatedly with the seconds heard so far, on the sound thread, so it must not block.
    var heard: (@Sendable (Double) -> Void)?
    /// When it was asked for.
    var asked = SuspendingClock.now
}

/// The sounds that wait or are being played: the state that callers' threads and the sound thread share. A value; its
/// owner locks it.
struct VoiceList: Sendable {
    private enum Phase: Sendable {
        case waiting
        /// Heard up to that many seconds.
        case playing(position: Double)
        /// Heard completely; the PCM is being closed.
        case played
    }

    private struct Voice: Sendable {
        let id: Mixer.ID
        let request: VoiceRequest
        let promise: Promise<Void>
        var phase = Phase.waiting

        /// Seconds that have been heard.
        var position: Double {
            switch phase {
            case .waiting: 0
            case .playing(let position): position
            case .played: request.seconds
            }
        }
    }

    /// How many sounds may play at the same time: more would only be noise, and take time from the others.
    static let limit = 256

    private var voices: [Voice] = []
    private var lastID: Mixer.ID = 0
    /// Whether the sound thread knows that there is something to play.
    var isScheduled = false
    var isClosed = false

    enum Admission: Equatable {
        /// The first sound: the sound thread must be told.
        case first
        case joined
        case refused(Refusal)
    }

    enum Refusal {
        case closed
        case full
    }

    mutating func admit(_ request: VoiceRequest, _ promise: Promise<Void>) -> Admission {
        if isClosed { return .refused(.closed) }
        if voices.count >= Self.limit { return .refused(.full) }
        lastID += 1
        voices.append(Voice(id: lastID, request: request, promise: promise))
        defer { isScheduled = true }
        return isScheduled ? .joined : .first
    }

    /// Whether the sound thread has more to do; if not, the next voice must start it.
    mutating func hasMore() -> Bool {
        isScheduled = !voices.isEmpty
        return isScheduled
    }

    /// A sound for the sound thread.
    typealias Taken = (id: Mixer.ID, source: any VoiceSource, asked: SuspendingClock.Instant)

    /// Returns the sounds that have not begun, and marks them as playing.
    mutating func takeWaiting() -> [Taken] {
        var taken: [Taken] = []
        for index in voices.indices {
            guard case .waiting = voices[index].phase else { continue }
            voices[index].phase = .playing(position: 0)
            taken.append((voices[index].id, voices[index].request.source, voices[index].request.asked))
        }
        return taken
    }

    var ids: Set<Mixer.ID> { Set(voices.map(\.id)) }

    /// - Parameter seconds: how much of each playing sound has been heard.
    mutating func setPositions(_ seconds: [Mixer.ID: Double]) {
        for index in voices.indices {
            guard case .playing = voices[index].phase, let position = seconds[voices[index].id] else { continue }
            voices[index].phase = .playing(position: position)
        }
    }

    /// The callbacks for the progress of the sounds, with the seconds heard.
    func told(_ seconds: [Mixer.ID: Double]) -> [(heard: @Sendable (Double) -> Void, seconds: Double)] {
        voices.compactMap { voice in
            guard let heard = voice.request.heard, let seconds = seconds[voice.id] else { return nil }
            return (heard, seconds)
        }
    }

    mutating func setPlayed(_ ids: [Mixer.ID]) {
        for index in voices.indices where ids.contains(voices[index].id) { voices[index].phase = .played }
    }

    /// Removes the sounds that have been heard. The caller fulfils their promises after releasing the lock.
    mutating func removePlayed() -> [Promise<Void>] {
        remove { if case .played = $0.phase { true } else { false } }
    }

    /// Removes the sounds that have begun and not ended, and with `waiting` also those that wait.
    mutating func removeUnplayed(waiting: Bool) -> [Promise<Void>] {
        remove { voice in
            switch voice.phase {
            case .waiting: waiting
            case .playing: true
            case .played: false
            }
        }
    }

    /// Removes the sound with that promise.
    mutating func remove(_ promise: Promise<Void>) {
        voices.removeAll { $0.promise === promise }
    }

    /// Removes the sounds of these callers.
    mutating func remove(of callers: Set<Caller>) -> [Promise<Void>] {
        remove { callers.contains($0.request.caller) }
    }

    var callers: Set<Caller> { Set(voices.map(\.request.caller)) }

    /// The sounds for `state`, in the order they were asked for.
    var json: JSONValue {
        .array(
            voices.compactMap { voice -> JSONValue? in
                guard var object = voice.request.description else { return nil }
                object["position"] = .number(voice.position.inMilliseconds)
                object["seconds"] = .number(voice.request.seconds.inMilliseconds)
                object["for"] = voice.request.caller.json
                return .object(object)
            }
        )
    }

    private mutating func remove(where isMeant: (Voice) -> Bool) -> [Promise<Void>] {
        let promises = voices.filter(isMeant).map(\.promise)
        voices.removeAll(where: isMeant)
        return promises
    }
}
