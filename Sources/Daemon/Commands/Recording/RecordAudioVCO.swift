import Concurrency
import JSON
import QuickConnect

/// `rec [file, action, {rate, channels, limit, gain, shared, wait}]`: starts a recording into the media folder and is
/// done when the first frames have been captured; or stops it. Stop, and start with `wait`, reply `{path, seconds, bytes,
/// format, rate, channels, peak, file}` when the file is complete.
struct RecordAudioVCO: WaitingVCO {
    let touchesDevice = true
    private let recorder: any Recorder
    private let permissions: Permissions

    init(_ recorder: any Recorder, _ permissions: Permissions) {
        self.recorder = recorder
        self.permissions = permissions
    }

    /// How long it may take until it runs, or has stopped. The timeout of the mapping is for calls that wait for the end.
    private static let patience = Duration.seconds(15)

    func show(_ call: borrowing Call) throws(CommandError) -> Awaited<ViewOutcome> {
        let file = call.string(0) ?? ""
        if call.string(1) == "stop" {
            let stopped = recorder.stop(file, mayEnd: permissions.mayEnd(call.caller))
            return .wait { () async throws(CommandError) in
                .reply(try await Self.result(of: stopped, "'\(file.shortened)' was not complete").json)
            }
        }
        let start = try call.handedOn(or: RecordingStart.init)
        let rights = permissions.fileRights(of: call)
        if start.waits {
            let ended = recorder.record(file, start.options, for: rights)
            return .wait { () async throws(CommandError) in .reply(try await ended.value().json) }
        }
        let started = recorder.start(file, start.options, for: rights)
        return .wait { () async throws(CommandError) in
            try await Self.result(of: started, "'\(file.shortened)' did not begin")
            return .proceed
        }
    }

    @discardableResult
    private static func result<Value: Sendable>(
        of promise: Promise<Value>,
        _ problem: String
    ) async throws(CommandError) -> Value {
        let end = ContinuousClock.now + patience
        do throws(CommandError) { return try await promise.value(before: end) } catch {
            guard error.code == .timeout, .now >= end else { throw error }
            throw CommandError(.timeout, "\(problem) within \(patience.words)")
        }
    }
}

extension Recording {
    /// If it ended by itself, `ending` says why: `"limit"`, or the error.
    var json: JSONValue {
        var object: JSONObject = [
            "path": .string(path), "seconds": .number(seconds), "bytes": .integer(Int64(bytes)),
            "format": .string(format), "rate": .integer(Int64(rate)), "channels": .integer(Int64(channels)),
            "peak": .number(peak), "file": .string(file),
        ]
        switch ending {
        case nil: break
        case .limit: object["ending"] = "limit"
        case .failure(let error): object["ending"] = error.payload(command: nil)
        }
        return .object(object)
    }
}
