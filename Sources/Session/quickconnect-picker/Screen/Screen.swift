import JSON
import QuickConnect
import QuickConnectClient

/// One way to the screen.
protocol ScreenWay: Sendable {
    /// As people are told of it.
    var name: String { get }

    /// What can be changed this way, as it is now; the rest is nil.
    func state() async throws(ScreenFailure) -> ScreenState

    /// Changes the one member that is not nil.
    func set(_ change: ScreenState) async throws(ScreenFailure)
}

/// Why a way cannot be taken.
struct ScreenFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The screen of this session. Each change goes the first way that does it, which is seen by reading it back.
struct Screen: Sendable {
    /// The best first.
    let ways: [any ScreenWay]

    /// `screen [{on, brightness, rotation}]`, which is mapped as `script:screen`.
    static let handler = "screen"

    /// What the ways tell: of each member the first that knows it.
    /// - Throws: `unavailable` with the reason of each way, if none knows anything.
    func look() async throws(HandlerCall.Failure) -> JSONValue {
        var (state, reasons) = (ScreenState(), [String]())
        for way in ways {
            do throws(ScreenFailure) {
                let known = try await way.state()
                state.isOn = state.isOn ?? known.isOn
                state.brightness = state.brightness ?? known.brightness
                state.rotation = state.rotation ?? known.rotation
            } catch {
                reasons.append("\(way.name): \(error)")
            }
        }
        guard state != ScreenState() else {
            throw .init(.unavailable, "no way to the screen is known: \(reasons.joined(separator: "; "))")
        }
        return state.json
    }

    /// - Throws: `unavailable` with the reason of each way, if there is none for a change. Changes before it stay.
    func change(_ changes: ScreenState) async throws(HandlerCall.Failure) {
        // Turned on first: a screen that is off may tell nothing else. Turned off last, for the same reason.
        let power = ScreenState(isOn: changes.isOn)
        if changes.isOn == true { try await makeOne("turned on", power) { $0.isOn != nil } }
        if let brightness = changes.brightness {
            try await makeOne("dimmed", ScreenState(brightness: brightness)) { $0.brightness != nil }
        }
        if let rotation = changes.rotation {
            try await makeOne("turned", ScreenState(rotation: rotation)) { $0.rotation != nil }
        }
        if changes.isOn == false { try await makeOne("turned off", power) { $0.isOn != nil } }
    }

    private func makeOne(
        _ what: String,
        _ change: ScreenState,
        _ canChange: (ScreenState) -> Bool
    ) async throws(HandlerCall.Failure) {
        var reasons: [String] = []
        for way in ways {
            do throws(ScreenFailure) {
                let before = try await way.state()
                guard canChange(before) else { continue }
                if change.brightness == nil, before.fits(change) { return }
                try await way.set(change)
                let after = try await way.state()
                if after.fits(change) { return }
                reasons.append("\(way.name): it has been asked, and is still \(after.json.text)")
            } catch {
                reasons.append("\(way.name): \(error)")
            }
        }
        let why = reasons.isEmpty ? "nothing here can do that" : reasons.joined(separator: "; ")
        throw HandlerCall.Failure(.unavailable, "the screen cannot be \(what): \(why)")
    }
}
