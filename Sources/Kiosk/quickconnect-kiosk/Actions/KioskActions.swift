internal import Actions
internal import Glibc
internal import JSON
internal import Linux
internal import QuickConnect
internal import QuickConnectClient
internal import SyntaxChecking

/// Actions in the window: its menu and the handler `action` start one; only one runs at a time.
///
///     let actions = KioskActions(kiosk, desk, views: ["/usr/share/quickconnect/action-view", "/usr/share/quickconnect/pages"], log)
///
/// It lives as long as the window.
final class KioskActions {
    /// The JavaScript world in which actions run: without the page's variables, inaccessible to the page, and not
    /// subject to its Content-Security-Policy.
    static let world = PageView.World.named("actions")
    private static let handler = "action"
    /// The host of the view's addresses.
    private static let viewHost = "action-view"

    let kiosk: Kiosk
    let desk: ActionLibrary
    let log: ServiceLog
    private var view: PageView?
    /// The action that runs or is shown.
    var current: ActionRun?
    /// The texts that are being checked, in a process of their own; nil while there are none.
    private var checks: CheckQueue<(CheckVerdict) -> Void>?

    /// - Parameter views: the folders with the files of the view.
    init(_ kiosk: Kiosk, _ desk: ActionLibrary, views: [String], _ log: ServiceLog) {
        self.kiosk = kiosk
        self.desk = desk
        self.log = log
        kiosk.engine.folders.serve(views, as: Self.viewHost)
        let others = kiosk.menuEntries
        kiosk.menuEntries = { [unowned self] in others() + entries() }
        let hear = { [unowned self] (page: PageView) in
            page.addMessageHandler(ActionScript.Host.handler, in: Self.world) { [unowned self] text, reply in
                answer(text) { reply.give(ActionRequest.answer($0)) }
            }
        }
        hear(kiosk.page)
        kiosk.pageIsMade = hear
        kiosk.pageIsLeft = { [unowned self] in pageIsLeft() }
        kiosk.daemon.handle(Self.handler) { [unowned self] call, answer in self.answer(call, answer) }
    }

    private var site: WebOrigin? { kiosk.page.address.flatMap(WebOrigin.init) }

    /// The actions that may run on the current page.
    private var allowed: [String] {
        guard let site else { return [] }
        let rules = desk.state.rules().all
        return desk.list().actions.filter { $0.problem == nil && rules.allows($0.name, on: site) }.map(\.name)
    }

    // MARK: Who chooses

    private func entries() -> [Kiosk.MenuEntry] {
        guard current == nil else { return [] }
        return allowed.map { name in
            Kiosk.MenuEntry(title: "Action: \(name)") { [unowned self] in
                choose(name) { [log] result in
                    if case .failure(let error) = result { log.write("the action \(name): \(error.message)", .warning) }
                }
            }
        }
    }

    private func answer(_ call: HandlerCall, _ answer: @escaping DaemonHost.Answer) {
        // The page's contents belong to its user.
        guard let uid = call.caller["uid"]?.integerValue, uid == 0 || uid == Int64(geteuid()) else {
            let message = "actions in this window are for its own user and root"
            return answer(.failure(HandlerCall.Failure(.denied, message)))
        }
        let words = call.data.arrayValue ?? [call.data]
        switch (words.first?.stringValue ?? "list", words.dropFirst().first?.stringValue) {
        case ("list", _): answer(.success(HandlerCall.Answer(list)))
        case ("run", let name?):
            choose(name) { result in
                answer(result.map { HandlerCall.Answer(.object($0)) }.mapError(HandlerCall.Failure.init))
            }
        case ("run", nil): answer(.failure(.expected("name, an action", at: "/1", got: words.dropFirst().first)))
        default: answer(.failure(.expected("verb, list or run", at: "/0", got: words.first)))
        }
    }

    /// {"site", "actions": [names]}
    private var list: JSONValue {
        ["site": site.map { .string($0.description) } ?? .null, "actions": .array(allowed.map { .string($0) })]
    }

    // MARK: A run

    /// Runs an action in the page, and shows its view if it has one. The completion is called once, when it has ended.
    func choose(_ name: String, _ completion: @escaping ActionRun.Completion) {
        do throws(CommandError) {
            if let current { throw CommandError(.busy, "the action \(current.action) is under way") }
            let text = try desk.text(of: name, on: site)
            let page = try desk.checkIsAllowed(name, on: site)
            let path = try desk.path(of: name)
            let placing: ActionRun.Completion = { result in
                completion(result.mapError { $0.placed(in: text, at: path) })
            }
            check(text, ActionFolders.fileName, source: ActionFolders.fileName) { [weak self] mistake in
                if let mistake { return placing(.failure(ActionFailure(mistake))) }
                self?.start(name, text, page, placing)
            }
        } catch {
            completion(.failure(ActionFailure(error)))
        }
    }

    /// Runs the text of an action, which is valid, unless the window has another page or another action by now.
    private func start(_ name: String, _ text: String, _ page: WebOrigin, _ completion: @escaping ActionRun.Completion)
    {
        if let current {
            let busy = CommandError(.busy, "the action \(current.action) is under way")
            return completion(.failure(ActionFailure(busy)))
        }
        guard site == page else { return completion(.failure(.pageLeft)) }
        let run = ActionRun(name, page, completion)
        current = run
        let body = ActionScript.run(text, on: page, token: run.token, in: .window)
        kiosk.page.call(body, in: Self.world, source: ActionScript.actionURL) { [weak self] result in
            self?.begin(run, result)
        }
    }

    private func begin(_ run: ActionRun, _ result: PageView.Answer) {
        do throws(ActionFailure) {
            // The page was left meanwhile.
            guard current === run else { return }
            let results = try ActionResults(result.text)
            run.results = results
            if results.view == .none { end(run, .success("done")) } else { show(run) }
        } catch {
            end(run, .failure(error))
        }
    }

    /// The document in which an action began is gone. Those who wait for it are told at once, because the engine may
    /// not report it for a long time. An editor stays, with its text.
    private func pageIsLeft() {
        guard let run = current else { return }
        if run.results == nil { end(run, .failure(.pageLeft)) }
        // The script that somebody typed may itself have left the page.
        run.finishing?(run.hasRun ? .success(.null) : .failure(.pageLeft))
    }

    private func show(_ run: ActionRun) {
        guard let view = view ?? makeView() else {
            return end(run, .failure(ActionFailure(code: "unavailable", "the view cannot be made")))
        }
        self.view = view
        view.load("qc://\(Self.viewHost)/view.html?run=\(run.token)")
        kiosk.show(view)
    }

    private func makeView() -> PageView? {
        let view = kiosk.makeView { [unowned self] reason in
            guard let run = current, run.results != nil else { return }
            end(run, .failure(ActionFailure(code: "unavailable", "the action's own view was lost: \(reason)")))
        }
        view?.addMessageHandler("quickconnectView", in: .page) { [unowned self] text, reply in
            answerView(text) { reply.give(ActionRequest.answer($0)) }
        }
        return view
    }

    /// Closes the view, and reports the outcome to the caller and to subscribers.
    func end(_ run: ActionRun, _ outcome: Result<String, ActionFailure>) {
        guard current === run else { return }
        current = nil
        // The closure retains the run, and the engine may never call it.
        run.finishing = nil
        if view != nil { kiosk.showPage() }
        let (state, failure): (String, ActionFailure?) =
            switch outcome {
            case .success(let state): (state, nil)
            case .failure(let failure): (failure.code == "cancelled" ? "cancelled" : "failed", failure)
            }
        let event = ActionEvent.data(run.action, run.site, "window", state, failure?.message)
        kiosk.daemon.call("post", [.string(ActionEvent.name), .object(event)], timeout: .seconds(5))
        run.completion(outcome.map { run.answer($0) })
    }

    /// Shows the view again, instead of the page.
    func showView(_ run: ActionRun) {
        guard let view else { return }
        kiosk.show(view)
        kiosk.setTitle("Action: \(run.action)")
    }

    // MARK: Syntax

    /// How often the process that checks is asked, while it checks.
    private static let checkPeriod = Duration.milliseconds(5)

    /// Checks whether a text is a valid script. The window goes on meanwhile.
    /// - Parameter then: gets the error; nil if there is none.
    func check(_ text: String, _ what: String, source: String, then: @escaping (CommandError?) -> Void) {
        do throws(CommandError) {
            try ActionLibrary.checkLength(of: text, what)
        } catch {
            return then(error)
        }
        let queue = checks ?? SyntaxChecker.installed.queue()
        let isNew = checks == nil
        checks = queue
        let isTaken = queue.submit(CheckedText(.script, text), by: "") { then(Self.error($0, source)) }
        if !isTaken { then(CommandError(.overloaded, "too many texts wait to be checked already")) }
        if isNew { LoopSource.every(Self.checkPeriod) { [weak self] in self?.goOnChecking() ?? false } }
    }

    /// Returns whether something is left to check.
    private func goOnChecking() -> Bool {
        guard let queue = checks else { return false }
        queue.advance()
        for (then, verdict) in queue.takeVerdicts() { then(verdict) }
        guard queue.isIdle else { return true }
        checks = nil
        return false
    }

    private static func error(_ verdict: CheckVerdict, _ source: String) -> CommandError? {
        do throws(CommandError) {
            guard let mistake = try verdict.mistake() else { return nil }
            var details: JSONObject = ["source": .string(source)]
            details["line"] = mistake["line"]
            details["column"] = mistake["column"]
            let message = mistake["message"]?.stringValue ?? "it is not valid JavaScript"
            return CommandError(.invalid, message, details: details)
        } catch {
            return error
        }
    }
}
