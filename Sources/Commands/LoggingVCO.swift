import Logging
import QuickConnect

/// `logMessage`: writes its parameters to the log, the caller named.
struct LoggingVCO: CommandObject {
    let phase = Phase.view
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        let text = call.arguments.map { $0.stringValue ?? $0.text }.joined(separator: " ")
        let caller = call.caller
        logger.info("JavaScriptMessage: \(text.escapingControls)", metadata: ["caller": "\(caller)"])
        return .proceed
    }
}

extension String {
    /// The text on one line that no terminal obeys: control characters and line separators as JSON escapes them.
    var escapingControls: String {
        var escaped = ""
        for scalar in unicodeScalars {
            switch (scalar, scalar.properties.generalCategory) {
            case ("\n", _): escaped += "\\n"
            case ("\r", _): escaped += "\\r"
            case ("\t", _): escaped += "\\t"
            case (_, .control), (_, .format), (_, .lineSeparator), (_, .paragraphSeparator):
                escaped += "\\u{\(String(scalar.value, radix: 16))}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
