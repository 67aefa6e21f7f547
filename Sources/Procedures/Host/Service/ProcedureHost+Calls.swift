internal import Concurrency
internal import JSON
internal import Linux
internal import QuickConnect
internal import QuickConnectClient

/// The calls to the handlers `execute`, `procedures` and `data`.
extension ProcedureHost {
    /// - Parameter job: the one that it is, if that is known.
    func take(_ call: HandlerCall, _ job: ProcedureJob?) {
        if let job = job ?? ProcedureJob(call) { return pool.submit(call, job, recorder.hold(at: .now)) }
        switch call.handler {
        case "data":
            guard isAllowed(call) else { return }
            let verb = (call.data.arrayValue ?? [call.data]).first?.stringValue
            if verb == "import" { return keeper.ask(call) }
            reads.append((call, recorder.hold(at: .now)))
        case "execute": refuse(call, .invalid, "the name of a procedure is missing", "/0")
        default: takeProcedures(call, call.data.arrayValue ?? [call.data])
        }
    }

    private func takeProcedures(_ call: HandlerCall, _ values: [JSONValue]) {
        let name = values.count > 1 ? values[1].stringValue : nil
        switch (values.first?.stringValue ?? "list", name) {
        case ("list", _): list(call)
        case ("sync", _): fetched.look(for: call)
        case ("show", let name?): read(for: call) { folders in Self.shown(name, folders) }
        case ("check", let name?): check(call, name, values.count > 2 ? values[2].stringValue : nil)
        default:
            answer(call, .failure(Self.unknown(values)))
        }
    }

    /// Whether another thread may have one more call of this caller. Who may not is told.
    private func isAllowed(_ call: HandlerCall) -> Bool {
        let peer = ProcedureCaller(call)
        guard asked.take(1, for: peer, peer.share) else {
            refuse(call, .overloaded, "\(asked.used(by: peer)) calls of this caller wait already")
            return false
        }
        return true
    }

    /// Has another thread read the folders, because a disk may be slow.
    private func read(
        for call: HandlerCall,
        _ body: @escaping @Sendable (ProcedureFolders) -> Result<JSONValue, HandlerCall.Failure>
    ) {
        guard isAllowed(call) else { return }
        let peer = ProcedureCaller(call)
        files.run(for: peer.name) { [folders, answers] in
            answers.append(body(folders).map { HandlerCall.Answer($0) }, to: call)
            return .answered(peer)
        }
    }

    /// Checks a text under the name of a procedure, or without a text the procedure's file.
    private func check(_ call: HandlerCall, _ name: String, _ text: String?) {
        if let text { return checks.submit(call, .success(ProcedureChecks.Source(file: "\(name).js", text: text))) }
        guard isAllowed(call) else { return }
        files.run(for: call.callerName) { [folders] in .found(call, ProcedureChecks.Source.found(name, folders)) }
    }

    /// The error for an unknown verb, or one without the name that it needs.
    private static func unknown(_ values: [JSONValue]) -> HandlerCall.Failure {
        if let verb = values.first?.stringValue, ["show", "check"].contains(verb) {
            let value = values.count > 1 ? values[1] : nil
            return .expected("name, the procedure to \(verb)", at: "/1", got: value)
        }
        return .expected("verb, one of list, show, check, sync", at: "/0", got: values.first)
    }

    private func list(_ call: HandlerCall) {
        let load = pool.load
        let largest = pool.largest.map { caller, waiting -> JSONValue in
            ["caller": .string(caller), "waiting": .integer(Int64(waiting))]
        }
        let recording = recordingState
        let sync = fetched.isWanted ? fetched.json : .null
        read(for: call) { folders in
            let (files, problems) = folders.files()
            return .success([
                "procedures": .array(files.map { .object($0.json) }),
                "problems": .array(problems.map(JSONValue.string)), "running": .integer(Int64(load.running)),
                "waiting": .integer(Int64(load.waiting)), "largest": .array(largest), "recording": recording,
                "sync": sync,
            ])
        }
    }

    private static func shown(_ name: String, _ folders: ProcedureFolders) -> Result<JSONValue, HandlerCall.Failure> {
        guard let file = folders.file(name) else { return .failure(folders.missing(name)) }
        switch file.text() {
        case .failure(let problem):
            return .failure(HandlerCall.Failure(.unavailable, "\(file.path) \(problem.message)"))
        case .success(let text):
            var members = file.json
            members["text"] = .string(text)
            return .success(.object(members))
        }
    }

    private func refuse(_ call: HandlerCall, _ code: CommandError.Code, _ message: String, _ field: String? = nil) {
        answer(call, .failure(HandlerCall.Failure(code, message, field: field)))
    }
}
