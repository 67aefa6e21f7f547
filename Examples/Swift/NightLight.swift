import JSON
import QuickConnect
import QuickConnectClient

/// A night light: answers the command `brighten`, and turns itself up when somebody rings at the door.
///
///     swift run device-example &
///     quickconnect call brighten 0.2
///     quickconnect call post doorbell '{"door": "front"}'
@main struct NightLight {
    static func main() async throws {
        let device = DeviceClient()
        let hello = try await device.call("hello", timeout: .seconds(5))
        print("talks to \(hello.objectValue?["program"]?.stringValue ?? "something else")")
        let lamp = Lamp()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await answer(device, lamp) }
            group.addTask { try await listen(device, lamp) }
            // The first that fails, such as a name that another client has, ends the other.
            try await group.next()
            group.cancelAll()
        }
    }

    /// `brighten [LEVEL]`, from 0 to 1; answers what the level became.
    private static func answer(_ device: DeviceClient, _ lamp: Lamp) async throws {
        try await device.handle("brighten") { call in
            guard let level = call.parameters.first?.numberValue, (0...1).contains(level) else {
                throw HandlerCall.Failure(.invalid, "the level is a number from 0 to 1", field: "/0")
            }
            return .number(await lamp.set(level))
        }
    }

    private static func listen(_ device: DeviceClient, _ lamp: Lamp) async throws {
        for try await event in device.events("doorbell") {
            await lamp.set(1)
            print("somebody is at the \(event.value.objectValue?["door"]?.stringValue ?? "") door")
            _ = try? await device.call("playSound", 0, timeout: .seconds(2))
        }
    }
}

/// Stands for what drives a real one.
private actor Lamp {
    private var level = 0.0

    @discardableResult
    func set(_ level: Double) -> Double {
        self.level = level
        return level
    }
}
