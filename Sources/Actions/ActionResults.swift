public import JSON

/// What `run` has given to its completion function, as the extension's view gets it.
public struct ActionResults: Sendable, Equatable {
    /// Under which the view finds what the page told.
    public static let resultsKey = "NSExtensionJavaScriptPreprocessingResultsKey"
    /// Under which the view gives what `finalize` gets.
    public static let argumentKey = "NSExtensionJavaScriptFinalizeArgumentKey"

    /// What a person is shown next.
    public enum View: String, Sendable {
        /// The editor: the action has `finalize`.
        case editor
        /// A text to read: the results have `text`.
        case text
        /// Nothing.
        case none
    }

    public let results: JSONObject
    public let view: View

    /// The title of the page, as the action tells it.
    public var title: String { results["title"]?.stringValue ?? "" }

    /// `{"NSExtensionJavaScriptPreprocessingResultsKey": {…}}`.
    public var dictionary: JSONObject { [Self.resultsKey: .object(results)] }

    /// What a text of ``ActionScript/run(_:token:in:)`` has given; an error of the action is thrown.
    public init(_ text: String) throws(ActionFailure) {
        let value = try ActionFailure.value(in: text).objectValue ?? [:]
        results = value["results"]?.objectValue ?? [:]
        if value["finalizes"]?.boolValue == true {
            view = .editor
        } else {
            view = results["text"]?.stringValue == nil ? .none : .text
        }
    }
}

/// Why an action has not done what it should.
public struct ActionFailure: Error, Sendable, Equatable {
    /// {code, message, source?, line?, column?}; source is `script` for what was typed, `Action.js` for the action.
    public let members: JSONObject

    public init(_ members: JSONObject) { self.members = members }

    public init(code: String, _ message: String) {
        self.init(["code": .string(code), "message": .string(message)])
    }

    public var code: String { members["code"]?.stringValue ?? "scriptFailed" }
    public var message: String { members["message"]?.stringValue ?? "" }

    /// The page is another one than at the beginning; nothing has run.
    public static let pageChanged = ActionFailure(
        code: "cancelled",
        "the page has changed since the action was chosen: nothing was run, and your text is kept"
    )

    /// The page has gone away while it ran there.
    public static let pageLeft = ActionFailure(code: "cancelled", "the page was left while the action ran there")

    /// The person has pressed Cancel.
    public static let cancelled = ActionFailure(code: "cancelled", "the action was cancelled")

    /// The value in what an action's world has given.
    public static func value(in text: String) throws(ActionFailure) -> JSONValue {
        guard let answer = (try? JSONParser.parse(text))?.objectValue else {
            throw ActionFailure(code: "scriptFailed", "the page has given no answer: it may have been left")
        }
        if answer["changed"]?.boolValue == true { throw .pageChanged }
        if let error = answer["error"]?.objectValue { throw ActionFailure(error) }
        return answer["value"] ?? .null
    }
}

/// What the world of actions asks of the program meanwhile.
public enum ActionRequest: Sendable, Equatable {
    /// To run a text in the page's own world.
    case evaluate(String)
    /// To make a call.
    case call(command: String, message: JSONValue)

    /// - Parameter text: as it was sent; nil where it is no such request, or one of another run than that of the token.
    public init?(_ text: String, token: String) {
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

    /// The text that it is answered with.
    public static func answer(_ result: Result<JSONValue, ActionFailure>) -> String {
        switch result {
        case .success(let value): JSONValue.object(["value": value]).text
        case .failure(let failure): JSONValue.object(["error": .object(failure.members)]).text
        }
    }
}
