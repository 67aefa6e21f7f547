import Logging
import QuickConnect

/// Logs the calls that fail for a reason that the owner of the device can fix. A caller's own mistakes are reported to
/// the caller only, so that nobody can fill the log with them; refused calls are in the ``AuditLog``.
struct FailureLogger: CallObserver {
    let logger: Logger

    func failed(_ call: borrowing Call, with error: CommandError) {
        let level: Logger.Level
        switch error.code {
        case .internal: level = .error
        case .scriptFailed, .timeout: level = .notice
        default: level = .debug
        }
        let caller = call.caller
        logger.log(
            level: level,
            "\(call.command): \(error.code.rawValue): \(error.message)",
            metadata: ["caller": "\(caller)"]
        )
    }
}
