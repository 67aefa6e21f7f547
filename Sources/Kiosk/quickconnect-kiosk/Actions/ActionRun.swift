internal import Actions
internal import JSON
internal import KioskRules
internal import QuickConnect
internal import QuickConnectClient

/// A running action, from its choice to its end.
final class ActionRun {
    typealias Completion = (Result<JSONObject, ActionFailure>) -> Void

    private static let maxCalls = 256

    let action: String
    let site: WebOrigin
    /// Identifies it in the page and in the view. It cannot be guessed.
    let token: String
    let completion: Completion
    var results: ActionResults?
    /// Set while `finalize` runs in the page; called with its result.
    var finishing: ((Result<JSONValue, ActionFailure>) -> Void)?
    /// Whether a script has run to its end in the page.
    var hasRun = false
    private var callsUnderWay = 0

    init(_ action: String, _ site: WebOrigin, _ completion: @escaping Completion) {
        self.action = action
        self.site = site
        self.completion = completion
        token = (0..<4).map { _ in String(UInt64.random(in: 0 ... .max), radix: 16) }.joined()
    }

    /// An action that makes calls endlessly must only fill its page's memory.
    func beginCall() throws(CommandError) {
        guard callsUnderWay < Self.maxCalls else {
            throw CommandError(.overloaded, "an action may have at most \(Self.maxCalls) calls running")
        }
        callsUnderWay += 1
    }

    func endCall() { callsUnderWay -= 1 }

    /// The reply to the caller: {"action", "site", "state", "NSExtensionJavaScriptPreprocessingResultsKey"}.
    func answer(_ state: String) -> JSONObject {
        var answer: JSONObject = [
            "action": .string(action), "site": .string(site.description), "state": .string(state),
        ]
        answer.merge(results?.dictionary ?? [:])
        return answer
    }
}

extension ActionFailure {
    init(_ error: CommandError) { self.init(error.payload(command: nil).objectValue ?? [:]) }
}

extension HandlerCall.Failure {
    init(_ failure: ActionFailure) {
        self.init(CommandError.Code(rawValue: failure.code) ?? .scriptFailed, failure.message)
        details = failure.members
    }
}

extension PageView {
    /// The result of a script: its value as JSON, or the error.
    typealias Answer = Result<String?, ScriptMistake>
}

extension Result where Success == String?, Failure == ScriptMistake {
    /// The text that an action's world has returned; empty if there is none.
    var text: String {
        guard case .success(let json?) = self else { return "" }
        return (try? JSONParser.parse(json))?.stringValue ?? ""
    }
}
