import Synchronization

/// A screen that remembers what it was told: for tests, and for machines without one.
final class SimulatedScreen: ScreenWay {
    let name = "simulated screen"
    let parts = Set(ScreenPart.allCases)
    private let state = Mutex<ScreenState>([.on: 1, .brightness: 100, .rotation: 0])

    func read(_ part: ScreenPart) -> Double { state.withLock { $0[part] ?? 0 } }

    func set(_ part: ScreenPart, _ value: Double) { state.withLock { $0[part] = value } }
}
