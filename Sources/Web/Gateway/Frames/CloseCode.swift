/// Why a WebSocket ends (RFC 6455, section 7.4).
package struct CloseCode: RawRepresentable, Sendable, Hashable {
    /// The number on the wire.
    package var rawValue: UInt16

    /// A code by its number.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The page or the daemon has finished.
    package static let normal = CloseCode(rawValue: 1000)
    /// The gateway stops.
    package static let goingAway = CloseCode(rawValue: 1001)
    /// A frame that the protocol does not allow.
    package static let protocolError = CloseCode(rawValue: 1002)
    /// A binary message.
    package static let unacceptable = CloseCode(rawValue: 1003)
    /// Text that is not UTF-8.
    package static let invalidText = CloseCode(rawValue: 1007)
    /// The session has ended, or the page does not read.
    package static let policy = CloseCode(rawValue: 1008)
    /// A message that is too long.
    package static let tooLarge = CloseCode(rawValue: 1009)
    /// The daemon is gone: connect again.
    package static let tryAgain = CloseCode(rawValue: 1013)

    /// Whether the other side may send it. The others are reserved and never appear in a frame.
    var maySay: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
