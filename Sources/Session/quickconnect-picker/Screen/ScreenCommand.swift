import JSON
import QuickConnect
import QuickConnectClient

/// `screen [{on, brightness, rotation, ways}]`: what the screen is, or has become, which all are told who listen; with
/// `ways` only which ways there are to it.
struct ScreenCommand: SessionCommand {
    let screen: Screen
    let name = "screen"
    /// Two changes of one screen at once would read back each other's.
    let atOnce = 1

    func answer(_ call: HandlerCall, _ device: DeviceClient) async throws -> HandlerCall.Answer {
        guard let changes = call.parameters.first.flatMap({ $0 == .null ? nil : $0 }) else {
            return HandlerCall.Answer(try await screen.look())
        }
        if changes.objectValue?["ways"] == true {
            guard changes.objectValue?.count == 1 else {
                throw HandlerCall.Failure.expected("nothing beside ways", at: "/0", got: changes)
            }
            return HandlerCall.Answer(["ways": await screen.examine()])
        }
        do throws(HandlerCall.Failure) {
            try await screen.change(ScreenState(changes))
        } catch {
            // A part of it may be done.
            if error.code == .unavailable { _ = try? await tell(device) }
            throw error
        }
        return HandlerCall.Answer(try await tell(device))
    }

    private func tell(_ device: DeviceClient) async throws(HandlerCall.Failure) -> JSONValue {
        let state = try await screen.look()
        try? await device.post("screenState", state)
        return state
    }
}
