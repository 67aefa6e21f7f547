package import JSON
package import QuickConnect

/// A request of the extension: {"id", "verb", …}.
package struct BrowserRequest: Sendable, Equatable {
    package enum Verb: Sendable, Equatable {
        /// Which actions exist, and which may run on this page.
        case list
        /// The JavaScript that runs an action.
        case run(action: String)
        /// The JavaScript that calls its `finalize`.
        case finalize(action: String, argument: JSONValue)
        /// The JavaScript that runs a text in the page's own world.
        case evaluate(action: String, text: String)
        case call(action: String, command: String, message: JSONValue)
        /// The scripts that were saved for an action on this site.
        case scripts(action: String)
        case save(action: String, name: String, text: String)
        /// How an action ended, for subscribers of the event `action`.
        case ended(action: String, state: String, message: String?)
    }

    /// The extension's id; repeated in the answer.
    package var id: Int64
    package var verb: Verb
    /// The address of the page.
    package var page: String
    /// Identifies a run of an action.
    package var token: String

    /// How an action can end.
    static let states = ["done", "cancelled", "failed"]

    /// Why a message is not a request: the extension's id, if it could be read, and the error.
    package struct Refusal: Error, Sendable, Equatable {
        package var id: Int64?
        package var error: CommandError
    }

    package init(_ bytes: [UInt8]) throws(Refusal) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Refusal(id: nil, error: CommandError(.badRequest, "the message is not UTF-8"))
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONParser.parse(text, maximumDepth: 64)
        } catch {
            throw Refusal(id: nil, error: CommandError(.badRequest, "the message is not JSON: \(error.message)"))
        }
        let members = value.objectValue ?? [:]
        guard let id = members["id"]?.integerValue else {
            throw Refusal(id: nil, error: CommandError(.badRequest, "the message has no 'id', a number"))
        }
        do throws(CommandError) {
            try self.init(id: id, Members(members: members))
        } catch {
            throw Refusal(id: id, error: error)
        }
    }

    private init(id: Int64, _ members: Members) throws(CommandError) {
        self.id = id
        page = try members.text("page")
        token = members.members["token"]?.stringValue ?? ""
        verb = try Self.verb(members)
    }

    private static func verb(_ members: Members) throws(CommandError) -> Verb {
        let verb = try members.text("verb")
        if verb == "list" { return .list }
        guard ["run", "finalize", "evaluate", "call", "scripts", "save", "ended"].contains(verb) else {
            throw CommandError(.badRequest, "there is no verb '\(verb.prefix(100))'")
        }
        let action = try members.text("action")
        switch verb {
        case "run": return .run(action: action)
        case "finalize": return .finalize(action: action, argument: members.members["argument"] ?? .null)
        case "evaluate": return .evaluate(action: action, text: try members.text("text"))
        case "call":
            let message = members.members["message"] ?? .null
            return .call(action: action, command: try members.text("command"), message: message)
        case "scripts": return .scripts(action: action)
        case "save": return .save(action: action, name: try members.text("name"), text: try members.text("text"))
        default:
            let state = try members.text("state")
            guard states.contains(state) else {
                throw CommandError(.badRequest, "'state' must be \(states.joined(separator: ", "))")
            }
            return .ended(action: action, state: state, message: members.members["message"]?.stringValue)
        }
    }

    private struct Members {
        let members: JSONObject

        func text(_ name: String) throws(CommandError) -> String {
            guard let text = members[name]?.stringValue else {
                throw CommandError(.badRequest, "the message has no '\(name)', a text")
            }
            return text
        }
    }
}
