import JSON
import QuickConnectClient

/// A kind of picker: what a command asks a person, and what becomes of the answer.
///
/// A new one is a file beside this one, its line in ``Pickers/all``, and its entry in a file of `mappings/`.
protocol Picker: Sendable {
    /// The command, which is also the handler's name: `script:NAME` in its mapping.
    var name: String { get }

    /// The dialog for a call. Called once for each, before anything is shown.
    /// - Parameter parameters: as they were sent. What the mapping declares has been checked.
    /// - Throws: ``HandlerCall/Failure``, `invalid` with the `field` that does not fit.
    func dialog(_ parameters: [JSONValue]) throws -> Dialog
}

enum Pickers {
    static let all: [any Picker] = [
        DatePicker(),
        ListPicker(),
    ]

}

/// Asks a person what a picker says, by a dialog on this session's display.
struct PickerCommand: SessionCommand {
    let picker: any Picker
    let desk: DialogQueue
    var name: String { picker.name }
    let atOnce = 16

    func answer(_ call: HandlerCall, _: DeviceClient) async throws -> HandlerCall.Answer {
        let results = try await desk.ask(picker.dialog(call.parameters), for: call.command)
        return HandlerCall.Answer(.array(results), replyCommand: "showPickResults")
    }
}

extension String {
    /// The text, escaped for dialogs that parse markup (Pango's).
    var withoutMarkup: String {
        // By scalars: a combining mark behind a sign makes another Character of it, and Pango still reads the sign.
        unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}
