/// A line of the message log: `SEND` for messages to the page, `RCVD` for messages from it.
package enum MessageLog {
    package enum Direction: String, Sendable {
        case sent = "SEND"
        case received = "RCVD"
    }

    /// - Parameter maximumLength: the length in characters at which a message is cut, as with the bridge's
    ///   `logMaxLength`.
    package static func line(_ direction: Direction, _ message: String, maximumLength: Int) -> String {
        // Avoids counting a long message to its end.
        let cut = message.index(message.startIndex, offsetBy: maximumLength, limitedBy: message.endIndex)
        guard let cut, cut < message.endIndex else { return "\(direction.rawValue): \(message)" }
        return "\(direction.rawValue): \(message[..<cut]) [...]"
    }
}
