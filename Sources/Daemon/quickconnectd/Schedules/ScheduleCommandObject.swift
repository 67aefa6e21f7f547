import Concurrency
import JSON
import QuickConnect

/// A schedule as a command: without a parameter it returns `{"next", "last", "result"}`, the times in milliseconds since 1970
/// (null: none); with `run` it runs now, and returns the same when its call has ended.
struct ScheduleCommandObject: WaitingBCO {
    let name: String
    /// Nil where the mappings are only checked.
    let scheduler: Scheduler?

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        guard call.string(0) != nil else { return .now(.result(try answer())) }
        guard let scheduler else { throw CommandError(.unavailable, "no schedules run") }
        let ended = Promise<BusinessOutcome>()
        try scheduler.run(name, for: call.caller) { _ in ended.fulfil(.result((try? answer()) ?? .null)) }
        return .promise(ended, onCancel: {})
    }

    private func answer() throws(CommandError) -> JSONValue {
        guard let report = scheduler?.report(of: name) else {
            throw CommandError(.unavailable, "the schedule '\(name)' is not there; a reload removed it")
        }
        return report.json
    }
}

extension ScheduleBook.Report {
    /// `{"next", "last", "result"}`.
    var json: JSONValue {
        func time(_ seconds: Int64?) -> JSONValue { seconds.map { .integer(1000 * $0) } ?? .null }
        return ["next": time(next), "last": time(last), "result": result.map { .string($0) } ?? .null]
    }
}
