internal import Concurrency
internal import Configuration
internal import JSON
internal import Linux
internal import QuickConnectClient

/// What the host records, and what it says of the data.
extension ProcedureHost {
    func record() {
        while let first = reads.first, first.hold?.isOver(recorder.settled, at: .now) ?? true {
            reads.removeFirst()
            reader.ask(first.call)
        }
        guard !isEnding else { return }
        if let batch = recorder.takeBatch(at: .now) { keeper.order(.save(batch)) }
        guard trimsAt <= .now else { return }
        trimsAt = .now + Self.trimPause
        keeper.order(.trim)
        if fetched.isWanted { fetched.look() }
    }

    /// What has come by now, behind what is being written.
    func saveRest() {
        while let batch = recorder.takeBatch(at: .now, evenFew: true) { keeper.order(.save(batch)) }
    }

    func handle(_ news: DataKeeper.News) {
        switch news {
        case .opened: dataProblem = nil
        case .failed(let error): note(error)
        case .doubts(let doubt?): log.write("warning", doubt)
        case .doubts(nil): log.write("info", "what is too old is deleted again")
        case .saved(let count):
            dataProblem = nil
            report(recorder.didSave(count))
            pool.goOn(recorder.settled)
        case .notSaved(let entries, let error):
            report(recorder.didNotSave(entries, error, at: .now))
            pool.goOn(recorder.settled)
        case .answered(let peer): asked.add(-1, to: peer)
        case .settled:
            // Until a turn of the loop has read nothing more: what the daemon had sent by the signal.
            let isAll = recorder.pending.isEmpty && events.isEmpty && eventLines == 0 || .now >= readsUntil
            saveRest()
            keeper.order(isAll ? .end : .settle)
        case .ended: isOver = true
        }
    }

    private func note(_ error: StoreError) {
        if dataProblem?.description != error.description { log.write("error", "\(error)") }
        dataProblem = error
    }

    /// Reports once that recording has stopped, and once that it continues.
    private func report(_ change: EventRecorder.Change?) {
        switch change {
        case nil: return
        case .stopped(let error):
            log.write("error", "nothing is recorded: \(error)")
            post(["recording": false, "reason": .string("\(error)")])
        case .goesOn(let lost):
            log.write("info", "recording goes on\(lost == 0 ? "" : "; \(lost) events were lost meanwhile")")
            post(["recording": true, "lost": .integer(Int64(lost))])
        }
    }

    private func post(_ state: JSONValue) {
        link.conversation.call("post", .value(["dataState", state]))
    }

    /// - Parameter size: the bytes of the value as JSON, if they are known.
    func hear(_ name: String, _ value: JSONValue, size: Int?) {
        guard settings.record.contains(where: { $0.event == name }), let date = EntryDate.now else { return }
        let size = size ?? value.text.utf8.count
        guard size <= Entry.maximumDataBytes else {
            return log.write(
                "warning",
                "an event '\(name)' of \(size >> 10) KiB is not recorded: too large for an entry"
            )
        }
        recorder.take(Entry(date: date, kind: name, data: value, source: "event"), size: size, at: .now)
    }

    /// Why the data cannot be used, or what is to be known of them.
    var problem: String? { (recorder.problem ?? dataProblem).map { "\($0)" } ?? notice }

    /// In the form of `procedures list`: `{events, saved, waiting, problem, restart}`.
    var recordingState: JSONValue {
        let keys = changes()
        return JSONValue(present: [
            "events": .array(settings.record.map { .string($0.event) }), "saved": .integer(Int64(recorder.saved)),
            "waiting": .integer(Int64(recorder.pending.count)), "problem": problem.map(JSONValue.string),
            "restart": keys.isEmpty ? nil : .array(keys.map(JSONValue.string)),
        ])
    }
}
