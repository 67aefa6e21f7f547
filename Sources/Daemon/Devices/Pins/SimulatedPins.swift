internal import Concurrency
package import JSON
internal import Linux
package import QuickConnect
internal import Synchronization

/// Hardware that a person moves by hand: `simulate bell true`. Outputs do nothing.
package final class SimulatedPins: BoundPins {
    private let state = Mutex(State())

    private struct State {
        var lines: [String: Bool] = [:]
        var numbers: [String: Double] = [:]
        var watched: [String: SimulatedLine] = [:]
        var inputs: [String: ValueDeclaration] = [:]
        /// Which track an input follows, by its number.
        var tracks: [String: Int] = [:]
        var trackCount = 0
    }

    package init() {}

    package func openOutput(_: String, _: ValueDeclaration, value: Double) throws(CommandError) -> any OutputPin {
        SimulatedOutput()
    }

    package func openInput(_ name: String, _: GPIOBinding) throws(CommandError) -> any InputPin {
        do throws(Interruption) { return try SimulatedLine(name, self) } catch { throw CommandError(error) }
    }

    package func openSensor(_ name: String, _: SensorBinding) -> any SensorInput {
        SimulatedSensor(name: name, pins: self)
    }

    package func declare(inputs: [String: ValueDeclaration]) { state.withLock { $0.inputs = inputs } }

    /// The names of what a person can move.
    package var names: [String] { state.withLock { $0.inputs.keys.sorted() } }

    /// Moves a line, to true or false, or a sensor, to a number. Throws `invalid` for what does not fit.
    /// - Parameter value: nil or null: nothing is moved.
    /// - Returns: what it is then; nil if there is no input of that name.
    package func simulate(_ name: String, _ value: JSONValue?) throws(CommandError) -> JSONValue? {
        guard let declaration = state.withLock({ $0.inputs[name] }) else { return nil }
        let isLine = declaration.parameter.kind == .boolean
        if let value, value != .null {
            guard let accepted = declaration.accept(value) else {
                let track = value.stringValue == nil ? "" : ", or the name of a track in the media folder"
                let expected = "value, \(declaration.parameter.expectation)\(track)"
                throw .invalid("/1", expected: expected, got: value.gist)
            }
            set(name, to: accepted)
        }
        return isLine ? .bool(line(name)) : .shortest(self.value(of: name) ?? SimulatedSensor.initial)
    }

    /// Has an input follow a recorded track, once, until a person moves it. Throws `invalid` for what is none.
    /// - Parameters:
    ///   - text: that of the track: ``InputTrack``.
    ///   - track: its name.
    /// - Returns: `{"track": name}`; nil if there is no input of that name.
    package func follow(_ name: String, _ text: String, named track: String) throws(CommandError) -> JSONValue? {
        guard let declaration = state.withLock({ $0.inputs[name] }) else { return nil }
        let moments: [InputTrack.Moment]
        do throws(FileText.Problem) { moments = try InputTrack(text, for: declaration).moments } catch {
            throw CommandError(.invalid, "\(track) is no track of '\(name)': it \(error.message)")
        }
        let number = state.withLock { state in
            state.trackCount += 1
            state.tracks[name] = state.trackCount
            return state.trackCount
        }
        // The first moment is now.
        let begin = ContinuousClock.now
        if set(name, to: moments[0].value, from: number) { proceed(name, number, moments.dropFirst(), since: begin) }
        return ["track": .string(track)]
    }

    private func proceed(
        _ name: String,
        _ number: Int,
        _ moments: ArraySlice<InputTrack.Moment>,
        since begin: ContinuousClock.Instant
    ) {
        guard let next = moments.first else { return }
        let left = begin.duration(to: .now)
        AlarmThread.shared.ring(after: max(.zero, next.after - left)) { [weak self] in
            guard let self, set(name, to: next.value, from: number) else { return }
            proceed(name, number, moments.dropFirst(), since: begin)
        }
    }

    /// - Parameter track: nil: by hand, which ends a track.
    /// - Returns: false if that track has ended.
    @discardableResult
    private func set(_ name: String, to new: JSONValue, from track: Int? = nil) -> Bool {
        let value = new.numberValue ?? (new.boolValue ?? false ? 1 : 0)
        return state.withLock { state in
            guard track == nil || state.tracks[name] == track else { return false }
            if track == nil { state.tracks[name] = nil }
            state.numbers[name] = value
            let was = state.lines.updateValue(value != 0, forKey: name) ?? false
            if was != (value != 0) { state.watched[name]?.edge(to: value != 0) }
            return true
        }
    }

    /// What it is now; nil: nobody has moved it.
    fileprivate func value(of name: String) -> Double? { state.withLock { $0.numbers[name] } }

    fileprivate func line(_ name: String) -> Bool { state.withLock { $0.lines[name] ?? false } }

    fileprivate func watch(_ name: String, _ line: SimulatedLine?) { state.withLock { $0.watched[name] = line } }
}

private final class SimulatedOutput: OutputPin {
    func write(_: Double) throws(CommandError) {}
    func close() {}
}

private struct SimulatedSensor: SensorInput {
    let name: String
    let pins: SimulatedPins

    /// Until a person says otherwise.
    static let initial = 20.0

    func read() throws(CommandError) -> Double { pins.value(of: name) ?? Self.initial }
}

/// A line whose edges a person makes.
private final class SimulatedLine: InputPin, Sendable {
    private let name: String
    private let pins: SimulatedPins
    private let pipe: Waker
    private let pending = Mutex(Pending())
    /// As many as the kernel keeps.
    private static let max = 1024

    private struct Pending {
        var states: [Bool] = []
        var lost = 0
    }

    init(_ name: String, _ pins: SimulatedPins) throws(Interruption) {
        (self.name, self.pins) = (name, pins)
        pipe = try Waker()
    }

    func read() throws(CommandError) -> Bool { pins.line(name) }

    func watch(_ isWatching: Bool) throws(CommandError) {
        pending.withLock { $0 = Pending() }
        pins.watch(name, isWatching ? self : nil)
    }

    var descriptor: Int32 { pipe.descriptor }

    func edge(to state: Bool) {
        pending.withLock { pending in
            pending.states.append(state)
            guard pending.states.count > Self.max else { return }
            pending.states.removeFirst()
            pending.lost += 1
        }
        pipe.wake()
    }

    func edges() throws(CommandError) -> (states: [Bool], lost: Int) {
        pipe.clear()
        return pending.withLock { pending in
            defer { pending = Pending() }
            return (pending.states, pending.lost)
        }
    }

    func close() { pins.watch(name, nil) }
}
