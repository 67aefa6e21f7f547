internal import CALSA
internal import CALSAShims
internal import Glibc
internal import JSON
internal import QuickConnect

/// A call of libasound that failed.
struct ALSAError: Error, Hashable {
    /// The C function, such as `snd_pcm_open`.
    let call: String
    /// Its result: a negative error number.
    let code: Int32
    /// libasound's message, such as `Unknown PCM speaker`; empty if there was none.
    var remark = ""

    /// The error number without its sign, to compare with `EBUSY` and so on.
    var number: Int32 { -code }
}

extension ALSAError: CustomStringConvertible {
    var description: String {
        let text = String(cString: snd_strerror(code))
        return "\(call): \(text) (\(code))" + (remark.isEmpty ? "" : ", \(remark)")
    }
}

extension ALSAError {
    /// The error as callers see it.
    /// - Parameter subject: the object of the call, such as `the PCM default`.
    func commandError(about subject: String) -> CommandError {
        let code = number == EBUSY ? CommandError.Code.busy : .unavailable
        let details: JSONObject =
            switch number {
            case EBUSY: ["inspect": "fuser -v /dev/snd/*"]
            case EINVAL: ["fix": "sudoedit /etc/asound.conf"]
            default: [:]
            }
        return CommandError(code, "\(subject) failed: \(self); \(advice)", details: details)
    }

    /// Advice for people.
    private var advice: String {
        switch number {
        case EBUSY:
            "another program holds it: end that program, or use a PCM that mixes, such as default"
        case EACCES, EPERM:
            "the user of this daemon may not use it: add that user, named by `quickconnect doctor`, to the group audio"
        case ENOENT, ENODEV, ENXIO:
            "it is missing or unplugged: `aplay -L` lists the devices"
        case ECONNREFUSED, EHOSTDOWN, ENOTCONN:
            "its sound server does not answer: start that server"
        case EINVAL:
            "it does not take this kind of sound: `plughw:` in place of `hw:` converts"
        case EIO, EPIPE:
            "it was unplugged or its sound server stopped; the next sound tries again"
        default:
            "the next sound tries again"
        }
    }
}

/// Calls libasound and turns a negative result into an ``ALSAError``. Every call that can fail goes through here.
/// - Parameter name: the C function's name.
/// - Returns: the result, zero or positive.
@discardableResult
func check<Code: FixedWidthInteger & SignedInteger>(
    _ name: String,
    _ call: @autoclosure () -> Code
) throws(ALSAError) -> Code {
    _ = collectsMessages
    qc_alsa_forget_message()
    let code = call()
    guard code < 0 else { return code }
    // libpulse's messages end with a line break.
    let remark = String(cString: qc_alsa_message()).split(whereSeparator: \.isNewline).joined(separator: " ")
    throw ALSAError(call: name, code: Int32(clamping: code), remark: remark)
}

/// Accessed before the first call, so that libasound prints nothing itself from then on.
private let collectsMessages: Void = qc_alsa_collect_messages()

/// Why playing or recording had to end.
enum StreamFailure: Error {
    case alsa(ALSAError)
    /// The PCM was open, but no sound passed through it for that long.
    case frozen(Duration)
    /// It was recovered again and again without success.
    case unrecoverable(ALSAError)
    /// The folder of a simulated output cannot be used.
    case folder(String, reason: String)
    /// A blocking call returned after it had been given up.
    case givenUp

    /// - Parameter subject: the PCM, such as `the PCM default`.
    func commandError(about subject: String) -> CommandError {
        switch self {
        case .alsa(let error):
            return error.commandError(about: subject)
        case .frozen(let patience):
            let message = "\(subject) made no progress for \(patience): its clock has stopped or its sound server hangs"
            return CommandError(.unavailable, message)
        case .unrecoverable(let error):
            let message = "\(subject) failed: \(error), and again each time it was recovered; is its sound server gone?"
            return CommandError(.unavailable, message)
        case .folder(let folder, let reason):
            return CommandError(.unavailable, "\(subject) cannot write to the folder \(folder): \(reason)")
        case .givenUp:
            return CommandError(.timeout, "\(subject) did not answer in time")
        }
    }
}
