import Concurrency
import JSON
import QuickConnect

/// `rec [file, action, {rate, channels, limit, gain}]`: starts a recording into the media folder, done when the first
/// of it has been captured; or stops it, and replies `{path, seconds, bytes, format, rate, channels, peak, file}`
/// when the file is whole.
struct RecordAudioVCO: CommandObject {
    let phase = Phase.view
    let waits = true
    let touchesDevice = true
    private let recorder: any Recorder

    init(_ recorder: any Recorder) { self.recorder = recorder }

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        let file = call[0]?.stringValue ?? ""
        guard call[1] == "stop" else {
            let started = recorder.start(file, try RecordingOptions(call), for: call.caller)
            return .wait { () async throws(CommandError) in
                try await started.value()
                return .proceed
            }
        }
        let stopped = recorder.stop(file, mayEnd: call.session.frontController.mayEnd(call.caller))
        return .wait { () async throws(CommandError) in .reply(try await stopped.value().json) }
    }
}

extension Recording {
    /// Where it ended by itself, `ending` says why: `"limit"`, or the error.
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
