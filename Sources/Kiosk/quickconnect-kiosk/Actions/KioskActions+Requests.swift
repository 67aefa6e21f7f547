internal import Actions
internal import JSON
internal import KioskRules
internal import Linux
internal import QuickConnect
internal import QuickConnectClient

/// Requests of the actions' JavaScript world and of the view to the window.
extension KioskActions {
    typealias Reply = (Result<JSONValue, ActionFailure>) -> Void

    // MARK: The world of actions

    /// Runs a script in the page's own world, or makes a call.
    func answer(_ text: String, _ reply: @escaping Reply) {
        guard let run = current, let request = ActionRequest(text, token: run.token) else {
            return reply(.failure(.ended))
        }
        do throws(CommandError) {
            switch request {
            case .evaluate(let script):
                try desk.checkIsAllowed(run.action, on: run.site)
                check(script, "the script", source: "script") { [weak self] mistake in
                    if let mistake { return reply(.failure(ActionFailure(mistake))) }
                    guard let self, current === run else { return reply(.failure(.ended)) }
                    evaluate(script, run, reply)
                }
            case .call(let command, let message):
                try desk.checkMayCall(command, run.action, on: run.site)
                try run.beginCall()
                kiosk.daemon.call(command, message) { result in
                    run.endCall()
                    reply(result.mapError { ActionFailure(code: $0.code, $0.message) })
                }
            }
        } catch {
            reply(.failure(ActionFailure(error)))
        }
    }

    private func evaluate(_ script: String, _ run: ActionRun, _ reply: @escaping Reply) {
        let text = ActionScript.page(script, on: run.site)
        kiosk.page.evaluate(text, in: .page, source: ActionScript.pageURL) { result in
            switch result {
            case .failure(let mistake): reply(.failure(ActionFailure(code: "scriptFailed", mistake.message)))
            case .success(let json):
                let value = json.flatMap { try? JSONParser.parse($0) }
                let mistake = value?.objectValue?[ActionScript.mistakeKey]?.objectValue
                run.hasRun = run.hasRun || mistake == nil
                reply(mistake.map { .failure(ActionFailure($0)) } ?? .success(.null))
            }
        }
    }

    // MARK: The view

    func answerView(_ text: String, _ reply: @escaping Reply) {
        let message = (try? JSONParser.parse(text))?.objectValue ?? [:]
        guard let run = current, message["run"]?.stringValue == run.token, let results = run.results else {
            return reply(.failure(.ended))
        }
        do throws(CommandError) {
            switch message["verb"]?.stringValue {
            case "open": reply(.success(.object(opening(run, results))))
            case "shown":
                kiosk.setTitle("Action: \(run.action)")
                reply(.success(.null))
            case "done": finish(run, message[ActionResults.argumentKey] ?? .null, reply)
            case "cancel":
                if results.view == .editor { keep(message["text"]?.stringValue ?? "", run) }
                reply(.success(.null))
                end(run, results.view == .editor ? .failure(.cancelled) : .success("done"))
            case "save":
                let (name, text) = (message["name"]?.stringValue ?? "", message["text"]?.stringValue ?? "")
                try desk.state.save(text, as: name, of: run.action, on: run.site)
                reply(.success(scripts(run)))
            default: throw CommandError(.badRequest, "the view asks for something that does not exist")
            }
        } catch {
            reply(.failure(ActionFailure(error)))
        }
    }

    private func opening(_ run: ActionRun, _ results: ActionResults) -> JSONObject {
        JSONObject(present: [
            "action": .string(run.action), "view": .string(results.view.rawValue),
            "dictionary": .object(results.dictionary), "scripts": results.view == .editor ? .some(scripts(run)) : nil,
        ])
    }

    private func scripts(_ run: ActionRun) -> JSONValue { desk.state.scripts().json(of: run.action, on: run.site) }

    /// Runs `finalize` in the same document. If it fails, the view and its text stay.
    private func finish(_ run: ActionRun, _ argument: JSONValue, _ reply: @escaping Reply) {
        let text = argument.objectValue?["customJavaScript"]?.stringValue ?? ""
        keep(text, run)
        // Syntax errors are reported before anything runs.
        check(text, "the script", source: "script") { [weak self] mistake in
            if let mistake { return reply(.failure(ActionFailure(mistake))) }
            guard let self, current === run else { return reply(.failure(.ended)) }
            do throws(CommandError) {
                try finishChecked(run, argument, reply)
            } catch {
                reply(.failure(ActionFailure(error)))
            }
        }
    }

    private func finishChecked(
        _ run: ActionRun,
        _ argument: JSONValue,
        _ reply: @escaping Reply
    ) throws(CommandError) {
        try desk.checkIsAllowed(run.action, on: run.site)
        guard run.finishing == nil else { throw CommandError(.busy, "the script is already running") }
        run.hasRun = false
        run.finishing = { [weak self] result in
            run.finishing = nil
            guard let self, current === run else { return }
            do throws(ActionFailure) {
                _ = try result.get()
                reply(.success(.null))
                end(run, .success("done"))
            } catch {
                showView(run)
                reply(.failure(error))
            }
        }
        kiosk.showPage()
        kiosk.page.call(ActionScript.finalize(argument, token: run.token), in: Self.world) { result in
            run.finishing?(Result { () throws(ActionFailure) in try ActionFailure.value(in: result.text) })
        }
    }

    /// Stores the text for the next time; if that fails, the action continues.
    private func keep(_ text: String, _ run: ActionRun) {
        do throws(CommandError) {
            try desk.state.save(text, as: "", of: run.action, on: run.site)
        } catch {
            log.write("what was typed is not kept: \(error.message)", .warning)
        }
    }
}
