/// A line of the log of messages: `SEND` what goes to the page, `RCVD` what comes from it.
public enum MessageLog {
    public enum Direction: String, Sendable {
        case sent = "SEND"
        case received = "RCVD"
    }

    /// - Parameter maximumLength: what is longer is cut there, in characters, as the bridge's `logMaxLength` does.
    public static func line(_ direction: Direction, _ message: String, maximumLength: Int) -> String {
        // A long message is not counted to its end.
        let cut = message.index(message.startIndex, offsetBy: maximumLength, limitedBy: message.endIndex)
        guard let cut, cut < message.endIndex else { return "\(direction.rawValue): \(message)" }
        return "\(direction.rawValue): \(message[..<cut]) [...]"
    }
}
