internal import DequeModule
internal import JSON
internal import Synchronization

/// The unanswered calls of the daemon to the script's handlers, in the order they came.
final class HandlerCalls: Sendable {
    private struct State {
        /// The messages being passed to the script, a JSON array.
        var current: [UInt8]?
        var began: [String: (handler: String, at: ContinuousClock.Instant)] = [:]
        /// Answered calls stay until they are the first.
        var order: Deque<String> = []

        mutating func removeAnswered() {
            while let first = order.first, began[first] == nil { order.removeFirst() }
        }
    }

    private let state = Mutex(State())

    /// The messages being passed to the script, a JSON array, which may contain calls from which it has not returned.
    var current: [UInt8]? {
        get { state.withLock { $0.current } }
        set { state.withLock { $0.current = newValue } }
    }

    /// The calls being passed to the script. Its answers are sent when it returns, so none has been answered.
    var running: [(id: String, handler: String)] {
        let messages = (try? JSONParser.parse(String(decoding: current ?? [], as: UTF8.self)))?.arrayValue ?? []
        return messages.compactMap { message in
            guard let message = message.objectValue,
                let id = message["callbackId"]?.stringValue, let handler = message["handlerName"]?.stringValue
            else { return nil }
            return (id, handler)
        }
    }

    func begin(_ id: String, handler: String) {
        let now = ContinuousClock.now
        state.withLock { state in
            state.began[id] = (handler, now)
            state.order.append(id)
        }
    }

    /// Returns whether it was still unanswered.
    func end(_ id: String) -> Bool {
        state.withLock { state in
            defer { state.removeAnswered() }
            return state.began.removeValue(forKey: id) != nil
        }
    }

    var isEmpty: Bool { state.withLock { $0.began.isEmpty } }

    /// When the oldest one came.
    var oldest: ContinuousClock.Instant? {
        state.withLock { state in state.order.first.flatMap { state.began[$0]?.at } }
    }

    /// Removes calls that came before an instant; nil: all.
    func take(before instant: ContinuousClock.Instant? = nil) -> [(id: String, handler: String)] {
        state.withLock { state in
            let taken = state.order.compactMap { id in
                state.began[id].flatMap { call in
                    instant.map { call.at < $0 } ?? true ? (id: id, handler: call.handler) : nil
                }
            }
            for call in taken { state.began[call.id] = nil }
            state.removeAnswered()
            return taken
        }
    }
}
