import Concurrency
import JSON
import QuickConnect

/// `rec [file, action, {rate, channels, limit, gain}]`: starts a recording into the media folder and is done when the
/// first frames have been captured; or stops it, and replies `{path, seconds, bytes, format, rate, channels, peak,
/// file}` when the file is complete.
struct RecordAudioVCO: WaitingVCO {
    let touchesDevice = true
    private let recorder: any Recorder
    private let permissions: Permissions

    init(_ recorder: any Recorder, _ permissions: Permissions) {
        self.recorder = recorder
        self.permissions = permissions
    }

    func show(_ call: borrowing Call) throws(CommandError) -> Awaited<ViewOutcome> {
        let file = call.string(0) ?? ""
        guard call.string(1) == "stop" else {
            let options = try call.handedOn(or: RecordingOptions.init)
            let started = recorder.start(file, options, for: permissions.fileRights(of: call))
            return .wait { () async throws(CommandError) in
                try await started.value()
                return .proceed
            }
        }
        let stopped = recorder.stop(file, mayEnd: permissions.mayEnd(call.caller))
        return .wait { () async throws(CommandError) in .reply(try await stopped.value().json) }
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
