package import JSON
internal import Linux
package import QuickConnect

/// Answers those of the extension's requests that need no daemon.
package struct LocalRequests: Sendable {
    private let desk: ActionLibrary
    /// Returns why a text is not a valid script, {message, line?, column?, source?}; nil if it is valid.
    private let mistake: @Sendable (_ text: String) throws(CommandError) -> JSONObject?

    package init(
        _ desk: ActionLibrary,
        mistake: @escaping @Sendable (_ text: String) throws(CommandError) -> JSONObject?
    ) {
        self.desk = desk
        self.mistake = mistake
    }

    /// What to do with a request.
    package enum Step: Sendable, Equatable {
        case answer(JSONValue)
        /// Make a call, and answer with its reply.
        case call(command: String, message: JSONValue)
        /// Answer `null`, and post an event.
        case post(event: String, data: JSONObject)
    }

    package func step(_ request: BrowserRequest) throws(CommandError) -> Step {
        let page = WebOrigin(request.page)
        switch request.verb {
        case .list: return .answer(list(on: page))
        case .run(let action):
            let text = try desk.text(of: action, on: page)
            let site = try desk.checkIsAllowed(action, on: page)
            try check(text, "Action.js", desk.file(action).path)
            let body = ActionScript.run(text, on: site, token: request.token, in: .browser)
            return .answer(.string(ActionScript.program(body)))
        case .finalize(let action, let argument):
            try desk.checkIsAllowed(action, on: page)
            return .answer(.string(ActionScript.program(ActionScript.finalize(argument, token: request.token))))
        case .evaluate(let action, let text):
            let site = try desk.checkIsAllowed(action, on: page)
            try check(text, "script", "the script")
            return .answer(.string(ActionScript.page(text, on: site)))
        case .call(let action, let command, let message):
            try desk.checkMayCall(command, action, on: page)
            return .call(command: command, message: message)
        case .scripts(let action): return .answer(try scripts(of: action, on: page))
        case .save(let action, let name, let text):
            try desk.state.save(text, as: name, of: action, on: desk.checkIsAllowed(action, on: page))
            return .answer(try scripts(of: action, on: page))
        case .ended(let action, let state, let message):
            let site = try desk.checkIsAllowed(action, on: page)
            return .post(event: ActionEvent.name, data: ActionEvent.data(action, site, "browser", state, message))
        }
    }

    /// {"site", "actions": [{"name", "isAllowed", "problem"?}]}
    private func list(on page: WebOrigin?) -> JSONValue {
        let rules = desk.state.rules().all
        let actions = desk.list().actions.map { entry -> JSONValue in
            let isAllowed = page.map { rules.allows(entry.name, on: $0) } ?? false
            return JSONValue(present: [
                "name": .string(entry.name), "isAllowed": .bool(isAllowed),
                "problem": entry.problem.map(JSONValue.string),
            ])
        }
        return ["site": page.map { .string($0.description) } ?? .null, "actions": .array(actions)]
    }

    private func scripts(of action: String, on page: WebOrigin?) throws(CommandError) -> JSONValue {
        let site = try desk.checkIsAllowed(action, on: page)
        return desk.state.scripts().json(of: action, on: site)
    }

    private func check(_ text: String, _ source: String, _ path: String) throws(CommandError) {
        try ActionLibrary.checkLength(of: text, path)
        guard var details = try mistake(text) else { return }
        let message = details["message"]?.stringValue ?? "it is not valid JavaScript"
        details["text"] = details["source"]
        details["source"] = .string(source)
        throw CommandError(.invalid, message, details: details)
    }
}
