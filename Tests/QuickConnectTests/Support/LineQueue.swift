import Concurrency
import JSON
import QuickConnect
import Synchronization

/// The lines that a connection sends, kept for a test to await.
final class LineQueue: ConnectionOutput {
    private struct State {
        var lines: [String] = []
        var next = 0
        var finishes = 0
        var arrival: Promise<Void>?

        mutating func take() -> String? {
            guard next < lines.count else { return nil }
            defer { next += 1 }
            return lines[next]
        }
    }

    private let state = Mutex(State())

    func write(_ line: (OutputBuffer) -> Void) {
        let buffer = OutputBuffer()
        line(buffer)
        let text = String(decoding: buffer.flattened().dropLast(), as: UTF8.self)
        change { $0.lines.append(text) }
    }

    func send(_ event: Event, form: WireForm) { write { $0.append(event, form: form) } }

    func finish() {
        change { state in
            state.finishes += 1
            state.lines.append(LineQueue.end)
        }
    }

    private func change(_ change: (inout State) -> Void) {
        let arrival = state.withLock { state in
            change(&state)
            defer { state.arrival = nil }
            return state.arrival
        }
        arrival?.fulfil(())
    }

    /// Stands behind the last line when the connection has finished.
    static let end = "<end>"

    /// The next line, ``end`` behind the last one, nil when none comes in time.
    func next(within deadline: Duration = .seconds(60)) async -> String? {
        let limit = ContinuousClock.now + deadline
        while true {
            let arrival = Promise<Void>()
            let line = state.withLock { state in
                let line = state.take()
                if line == nil { state.arrival = arrival }
                return line
            }
            if let line { return line }
            guard await settles(arrival, before: limit) else { return state.withLock { $0.take() } }
        }
    }

    private func settles(_ arrival: Promise<Void>, before limit: ContinuousClock.Instant) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { (try? await arrival.value()) != nil }
            group.addTask {
                try? await Task.sleep(until: limit)
                return false
            }
            let isSettled = await group.next() ?? false
            group.cancelAll()
            return isSettled
        }
    }

    /// The lines that nobody has asked for.
    var unread: [String] { state.withLock { Array($0.lines[$0.next...]) } }

    /// All lines from the first one.
    var all: [String] { state.withLock { $0.lines } }

    /// How many times the connection has finished.
    var finishes: Int { state.withLock { $0.finishes } }

    /// Takes what is there.
    func drain() -> [String] {
        state.withLock { state in
            defer { state.next = state.lines.count }
            return Array(state.lines[state.next...])
        }
    }
}
