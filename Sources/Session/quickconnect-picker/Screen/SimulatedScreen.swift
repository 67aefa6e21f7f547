import Synchronization

/// A screen that remembers what it was told: for tests, and for machines without one.
final class SimulatedScreen: ScreenWay {
    let name = "simulated screen"
    private let now = Mutex(ScreenState(isOn: true, brightness: 100, rotation: 0))

    func state() async -> ScreenState { now.withLock { $0 } }

    func set(_ change: ScreenState) async {
        now.withLock { now in
            now.isOn = change.isOn ?? now.isOn
            now.brightness = change.brightness ?? now.brightness
            now.rotation = change.rotation ?? now.rotation
        }
    }
}
