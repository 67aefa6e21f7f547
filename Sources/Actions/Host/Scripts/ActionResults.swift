package import JSON

/// What `run` passed to its completion function, as the extension's view gets it.
package struct ActionResults: Sendable, Equatable {
    /// The key of the page's results.
    package static let resultsKey = "NSExtensionJavaScriptPreprocessingResultsKey"
    /// The key of the argument of `finalize`.
    package static let argumentKey = "NSExtensionJavaScriptFinalizeArgumentKey"

    /// What to show next.
    package enum View: String, Sendable {
        /// The editor: the action has `finalize`.
        case editor
        /// A text to read: the results have `text`.
        case text
        /// Nothing is shown.
        case none
    }

    package let results: JSONObject
    package let view: View

    /// The title of the page, as reported by the action.
    package var title: String { results["title"]?.stringValue ?? "" }

    /// `{"NSExtensionJavaScriptPreprocessingResultsKey": {…}}`.
    package var dictionary: JSONObject { [Self.resultsKey: .object(results)] }

    /// Parses the text from ``ActionScript/run(_:token:in:)``; throws an error of the action.
    package init(_ text: String) throws(ActionFailure) {
        let value = try ActionFailure.value(in: text).objectValue ?? [:]
        results = value["results"]?.objectValue ?? [:]
        if value["finalizes"]?.boolValue == true {
            view = .editor
        } else {
            view = results["text"]?.stringValue == nil ? .none : .text
        }
    }
}

/// Why an action failed.
package struct ActionFailure: Error, Sendable, Equatable {
    /// {code, message, source?, line?, column?, file?, text?}; source is `script` for what was typed, `Action.js` for the
    /// action; text is the line.
    package let members: JSONObject

    package init(_ members: JSONObject) { self.members = members }

    package init(code: String, _ message: String) {
        self.init(["code": .string(code), "message": .string(message)])
    }

    package var code: String { members["code"]?.stringValue ?? "scriptFailed" }
    package var message: String { members["message"]?.stringValue ?? "" }

    /// The same, with the path and the line if it is an error in Action.js.
    /// - Parameters:
    ///   - text: the text of Action.js.
    ///   - path: its path.
    package func placed(in text: String, at path: String) -> ActionFailure {
        guard members["source"]?.stringValue == ActionFolders.fileName else { return self }
        var members = members
        members["file"] = .string(path)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if let number = members["line"]?.integerValue, number >= 1, number <= lines.count {
            members["text"] = .string(String(lines[Int(number) - 1].prefix(200)))
        }
        return ActionFailure(members)
    }

    /// Another page than at the beginning is shown; nothing has run.
    package static let pageChanged = ActionFailure(
        code: "cancelled",
        "the page has changed since the action was chosen: nothing was run, and your text is kept"
    )

    /// The page was left while the action ran.
    package static let pageLeft = ActionFailure(code: "cancelled", "the page was left while the action ran there")

    /// Somebody asks for an action that runs no more.
    package static let ended = ActionFailure(code: "cancelled", "this action has ended")
    /// The person pressed Cancel.
    package static let cancelled = ActionFailure(code: "cancelled", "the action was cancelled")

    /// The value in the text from an action's world.
    package static func value(in text: String) throws(ActionFailure) -> JSONValue {
        guard let answer = (try? JSONParser.parse(text))?.objectValue else {
            throw ActionFailure(code: "scriptFailed", "the page has given no answer: it may have been left")
        }
        if answer["changed"]?.boolValue == true { throw .pageChanged }
        if let error = answer["error"]?.objectValue { throw ActionFailure(error) }
        return answer["value"] ?? .null
    }
}

/// A request from the actions' world to the program.
package enum ActionRequest: Sendable, Equatable {
    /// Run a script in the page's own world.
    case evaluate(String)
    /// Make a call.
    case call(command: String, message: JSONValue)

    /// - Parameter text: the text as sent; nil if it is not a request, or has the token of another run.
    package init?(_ text: String, token: String) {
        guard let members = (try? JSONParser.parse(text))?.objectValue, members["token"]?.stringValue == token else {
            return nil
        }
        switch members["verb"]?.stringValue {
        case "evaluate": self = .evaluate(members["text"]?.stringValue ?? "")
        case "call":
            guard let command = members["command"]?.stringValue else { return nil }
            self = .call(command: command, message: members["message"] ?? .null)
        default: return nil
        }
    }

    /// The text of the answer.
    package static func answer(_ result: Result<JSONValue, ActionFailure>) -> String {
        switch result {
        case .success(let value): JSONValue.object(["value": value]).text
        case .failure(let failure): JSONValue.object(["error": .object(failure.members)]).text
        }
    }
}

/// The event `action`, which every program that runs actions posts when one has ended: {action, site, program, state,
/// message?}. The state is `done`, `cancelled` or `failed`.
package enum ActionEvent {
    package static let name = "action"

    package static func data(
        _ action: String,
        _ site: WebOrigin,
        _ program: String,
        _ state: String,
        _ message: String?
    ) -> JSONObject {
        JSONObject(present: [
            "action": .string(action), "site": .string(site.description), "program": .string(program),
            "state": .string(state), "message": message.map { .string(String($0.prefix(1000))) },
        ])
    }
}
