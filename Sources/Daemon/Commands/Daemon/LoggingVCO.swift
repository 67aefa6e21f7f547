import JSON
import Logging
import QuickConnect

/// `logMessage`: writes its parameters to the log, with the caller's name. The log escapes control characters. Without a
/// message the line is empty, as in the original; for `null` it is `null`.
struct LoggingVCO: VCO {
    private let logger: Logger
    /// The most bytes of a message that are written.
    private static let mostBytes = 32 << 10

    init(_ logger: Logger) { self.logger = logger }

    func show(_ call: borrowing Call) throws(CommandError) -> ViewOutcome {
        var text = call.request.message?.isNull == true ? "null" : ""
        for index in 0..<call.request.parameterCount where text.utf8.count < Self.mostBytes {
            if index > 0 { text += " " }
            text += call.argument(index).excerpt(atMost: Self.mostBytes - text.utf8.count)
        }
        let caller = call.caller
        logger.info("JavaScriptMessage: \(text)", metadata: ["caller": "\(caller)"])
        return .proceed
    }
}
