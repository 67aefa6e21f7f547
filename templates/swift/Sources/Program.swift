import JSON
import QuickConnectClient

/// Counts each `NAMEPressed`, plays a sound, and answers the command `NAME`.
@main struct Program {
    static func main() async throws {
        let device = DeviceClient()
        let presses = device.events("NAMEPressed")
        try await presses.ready()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await count(presses, device) }
            group.addTask { try await greet(device) }
            // The first that fails, such as a name that another program has, ends the other.
            try await group.next()
            group.cancelAll()
        }
    }

    private static func count(_ presses: DeviceEvents, _ device: DeviceClient) async throws {
        for try await _ in presses {
            do {
                print("count: \(try await device.add("NAMECount").text)")
                _ = try await device.call("playSound", 0)
            } catch {
                print(error)  // without a sound card it still counts
            }
        }
    }

    private static func greet(_ device: DeviceClient) async throws {
        try await device.handle("NAME") { call in
            let whom = call.parameters.first?.stringValue ?? "you"
            return .string("Hello \(whom), the count is \(try await device.value("NAMECount").text).")
        }
    }
}
