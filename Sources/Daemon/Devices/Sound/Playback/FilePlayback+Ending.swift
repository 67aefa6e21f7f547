internal import Concurrency
internal import JSON
internal import MediaFolder
internal import QuickConnect
internal import Synchronization

// The end of a file, and its events.
extension FilePlayback {
    enum Ending {
        case ended, stopped
        case failed(CommandError)

        var failure: CommandError? { if case .failed(let error) = self { error } else { nil } }

        var name: String {
            switch self {
            case .ended: "ended"
            case .stopped: "stopped"
            case .failed: "failed"
            }
        }
    }

    /// The first ending counts.
    func finish(_ ending: Ending) {
        let last = state.withLock { state -> State? in
            if case .over = state.phase { return nil }
            defer {
                (state.phase, state.voice) = (.over, nil)
                (state.starting, state.pausing, state.ending) = ([], [], [])
            }
            return state
        }
        guard let last else { return }
        last.stream?.end()
        player.remove(self, ending.failure)
        report(ending.name, failure: ending.failure)
        let missed = ending.failure ?? CommandError(.cancelled, "'\(name)' was stopped")
        for promise in last.starting + last.ending {
            if case .ended = ending { promise.fulfil(()) } else { promise.fail(missed) }
        }
        for promise in last.pausing { promise.fail(hasEnded) }
    }

    func report(_ change: String, kind: Event.Kind = .message, failure: CommandError? = nil) {
        player.events.publish(
            {
                var value: JSONObject = ["file": .string(name.text), "state": .string(change)]
                value.merge(times(isEnd: change == "ended"))
                if let failure {
                    value["code"] = .string(failure.code.rawValue)
                    value["message"] = .string(failure.message)
                }
                return .object(value)
            }(),
            kind: kind
        )
    }

    /// `{"position", "duration"}`, in seconds.
    func times(isEnd: Bool = false) -> JSONObject {
        let (heard, duration) = state.withLock { ($0.before + $0.heard, $0.duration) }
        var position = options.from + heard
        if let duration, duration > 0, position > duration {
            position = options.loops == 0 || isEnd ? duration : position.truncatingRemainder(dividingBy: duration)
        }
        return [
            "position": .number(position.inMilliseconds),
            "duration": duration.map { .number($0.inMilliseconds) } ?? .null,
        ]
    }

    var isPaused: Bool { state.withLock { if case .paused = $0.phase { true } else { false } } }

    /// For `state`.
    var json: JSONValue {
        let phase = state.withLock { $0.phase }
        var object: JSONObject = ["file": .string(name.text)]
        object["state"] =
            switch phase {
            case .opening: "opening"
            case .playing, .pausing: "playing"
            case .paused, .over: "paused"
            }
        object.merge(times())
        object["for"] = caller.json
        return .object(object)
    }
}
