import JSON
import Logging
import QuickConnect

/// `logMessage`: writes its parameters to the log, the caller named. The log escapes control characters, whoever wrote them.
struct LoggingVCO: CommandObject {
    let phase = Phase.view
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        let text = call.arguments.map { $0.stringValue ?? $0.text }.joined(separator: " ")
        let caller = call.caller
        logger.info("JavaScriptMessage: \(text)", metadata: ["caller": "\(caller)"])
        return .proceed
    }
}
