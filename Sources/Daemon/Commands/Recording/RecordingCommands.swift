import Concurrency
import JSON
import QuickConnect

/// Checks the options of `rec`: `{rate, channels, limit, gain, shared, wait}`, and that what is to be done is not given as its file.
struct RecordAudioValCO: ValCO {
    /// Words that are no files where nothing follows them.
    private static let actions = ["start", "stop", "pause"]

    func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome {
        if call.request.parameterCount == 1, let word = call.string(0), Self.actions.contains(word) {
            let expected = "file, then start or stop, as in: rec memo.wav \(word == "start" ? word : "stop")"
            throw .invalid("/0", expected: expected, got: call.gist(0))
        }
        return .handOn(try RecordingStart(call))
    }
}

/// How a recording starts.
struct RecordingStart: Sendable {
    var options: RecordingOptions
    /// Whether the call is answered when the recording has ended.
    var waits: Bool

    /// The parameters `[file, action, options]`.
    init(_ call: borrowing Call) throws(CommandError) {
        let known = ["rate", "channels", "limit", "gain", "shared", "wait"]
        var options = try OptionReader(call, 2, known: known)
        self.options = RecordingOptions(
            rate: options.integer("rate", in: 8000...192_000, "frames a second") ?? 48_000,
            channels: options.integer("channels", in: 1...2, "1 is mono") ?? 1,
            limit: options.number("limit", in: 0.1...86_400, "seconds"),
            gain: options.number("gain", in: -60...60, "decibels") ?? 0,
            isShared: options.boolean("shared") ?? false
        )
        waits = options.boolean("wait") ?? false
        try options.finish()
    }
}

/// `rec [file, action, {rate, channels, limit, gain, shared, wait}]`: starts a recording into the media folder and is
/// done when the first frames have been captured; or stops it. Stop, and start with `wait`, reply `{path, seconds, bytes,
/// format, rate, channels, peak, file}` when the file is complete.
struct RecordAudioVCO: WaitingVCO {
    let touchesDevice = true
    let recorder: any Recorder
    let permissions: Permissions

    /// How long it may take until it runs, or has stopped. The timeout of the mapping is for calls that wait for the end.
    private static let timeout = Duration.seconds(15)

    func show(_ call: borrowing Call) throws(CommandError) -> Awaited<ViewOutcome> {
        let file = call.string(0) ?? ""
        if call.string(1) == "stop" {
            let stopped = recorder.stop(file, mayEnd: permissions.mayEnd(call.caller))
            let problem = "'\(file.shortened)' was not complete"
            return .wait(for: stopped, atMost: Self.timeout, orElse: problem) { .reply($0.json) }
        }
        let start = try call.handedOn(or: RecordingStart.init)
        let rights = permissions.fileRights(of: call)
        if start.waits {
            return .wait(for: recorder.record(file, start.options, for: rights)) { .reply($0.json) }
        }
        let started = recorder.start(file, start.options, for: rights)
        let problem = "'\(file.shortened)' did not begin"
        return .wait(for: started, atMost: Self.timeout, orElse: problem) { _ in .proceed }
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
