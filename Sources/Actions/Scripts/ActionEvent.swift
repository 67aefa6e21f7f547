public import JSON

/// The event `action`, which every program that runs actions posts when one has ended: {action, site, program, state,
/// message?}. The state is `done`, `cancelled` or `failed`.
public enum ActionEvent {
    public static let name = "action"

    public static func data(
        _ action: String,
        _ site: WebOrigin,
        _ program: String,
        _ state: String,
        _ message: String?
    ) -> JSONObject {
        var data: JSONObject = [
            "action": .string(action), "site": .string(site.description), "program": .string(program),
            "state": .string(state),
        ]
        if let message { data["message"] = .string(String(message.prefix(1000))) }
        return data
    }
}
