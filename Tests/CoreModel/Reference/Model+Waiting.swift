import QuickConnect

extension Model {
    // MARK: Waiting

    /// Why a call cannot wait now; nil where it can.
    mutating func lackOfPatience(_ run: Run) -> CommandError.Code? {
        if !run.isKept {
            run.isKept = true
            kept.append(run)
            if isFinishing || closed.contains(run.connection) { run.interruption = .cancelled }
        }
        if let code = run.interruption {
            run.interruption = nil
            run.isInterrupted = true
            return code
        }
        return run.isInterrupted ? .cancelled : nil
    }

    /// Whether the call waits now.
    mutating func wait(_ wait: Run.Wait, _ run: Run) -> Bool {
        if let code = lackOfPatience(run) {
            tellUnwanted(wait.part, run)
            take(.fail(code), of: wait.part, run)
            return false
        }
        run.waiting = wait
        if wait.part.way == .quick { ready.append(run) }
        return true
    }

    mutating func tellUnwanted(_ part: Part, _ run: Run) {
        guard part.way == .promise else { return }
        expected.add(Told.unwanted(GateKey(serial: run.line.serial, part: part.name)))
    }

    mutating func ask(_ handler: Handler, _ part: Part, _ run: Run) -> Bool {
        let code = lackOfPatience(run)
        let key = QuestionKey(serial: run.line.serial, number: run.questionCount)
        run.questionCount += 1
        asked[key] = handler.client
        let isURL = run.line.form == .url
        tell(
            handler.client,
            Told.question(
                handler.client,
                key,
                handler.name,
                isURL ? "[\(run.arguments)]" : run.line.data,
                of: run.line.command,
                in: part.phase.rawValue,
                results: run.results.joined(separator: ","),
                user: Device.user(run.connection),
                run.error?.rawValue
            )
        )
        if let code {
            take(.fail(code), of: part, run)
            return false
        }
        let question = Question(key: key, handler: handler.name, client: handler.client, isTold: handler.hearsCancel)
        questions.append(question)
        run.waiting = Run.Wait(part: part, question: question)
        return true
    }

    mutating func resume(_ run: Run, _ outcome: Outcome) {
        guard let part = run.waiting?.part else { return }
        run.waiting = nil
        take(outcome, of: part, run)
        goOn(run)
    }

    mutating func interrupt(_ run: Run, _ code: CommandError.Code) {
        // It may have ended meanwhile.
        guard kept.contains(where: { $0 === run }) else { return }
        guard let waiting = run.waiting else {
            run.interruption = run.interruption ?? code
            return
        }
        run.isInterrupted = true
        resume(run, .fail(code))
        tellUnwanted(waiting.part, run)
        guard let question = waiting.question, let index = questions.firstIndex(where: { $0.key == question.key })
        else { return }
        questions.remove(at: index)
        if question.isTold { tell(question.client, Told.withdrawn(question.client, question.key)) }
    }

    mutating func settle(_ key: GateKey, _ outcome: Outcome) {
        let run = kept.first { $0.line.serial == key.serial && $0.waiting?.part.name == key.part }
        if let run, run.waiting?.question == nil { resume(run, outcome) }
    }

    /// What was begun in no order is done in none.
    mutating func runReady(after step: Step) {
        while !ready.isEmpty {
            let now = ready
            ready = []
            switch step {
            case .endInput, .close: inAnyOrder(now) { $0.finishOperation(of: $1) }
            default: for run in now { finishOperation(of: run) }
            }
        }
    }

    mutating func finishOperation(of run: Run) {
        if let part = run.waiting?.part, part.way == .quick { resume(run, part.outcome) }
    }
}

extension Model {
    // MARK: Handlers

    mutating func take(_ answer: Answer, to key: QuestionKey) {
        guard let client = asked[key], isOpen(client) else { return }
        guard let index = questions.firstIndex(where: { $0.key == key }) else {
            droppedAnswers += 1
            return
        }
        let question = questions.remove(at: index)
        guard let run = kept.first(where: { $0.waiting?.question?.key == key }), let part = run.waiting?.part else {
            return
        }
        resume(run, Self.outcome(answer, of: question.handler, in: part.phase))
    }

    static func outcome(_ answer: Answer, of handler: String, in phase: Phase) -> Outcome {
        switch answer {
        case .error(let code):
            return .fail(phase == .validation ? .invalid : CommandError.Code(rawValue: code) ?? .scriptFailed)
        case .value(let value, let command, let ends):
            let command = command == handler ? nil : command
            if phase == .business { return .give(value, under: command, ends: ends) }
            if phase == .view, value != "null" || command != nil { return .give(value, under: command, ends: ends) }
            return ends ? .end : .next
        }
    }

    mutating func lose(_ question: Question) {
        if let run = kept.first(where: { $0.waiting?.question?.key == question.key }) {
            resume(run, .fail(.scriptFailed))
        }
    }

    /// A client can answer for no handler any more.
    mutating func retire(_ connection: Int) {
        let lost = questions.filter { $0.client == connection }
        questions.removeAll { $0.client == connection }
        let names = handlers.filter { $0.client == connection && !$0.sleeps }.map(\.name)
        handlers.removeAll { $0.client == connection }
        publish(names.map { ("handlers", #"{"name":"\#($0)","registered":false}"#) })
        inAnyOrder(lost) { $0.lose($1) }
    }
}
