/// Why a request to the fleet failed.
package enum FleetFailure: Error, Sendable, CustomStringConvertible {
    /// The broker cannot be reached, or does not let this client in.
    case noBroker(String)
    case connectionLost(String)
    /// The broker does not allow this client to do that.
    case denied(String)
    /// Nobody takes calls there, not even a device that is away.
    case nobody(String)
    case timedOut(String)
    /// The request is not valid for any device.
    case unusable(String)

    package var description: String {
        switch self {
        case .noBroker(let text), .connectionLost(let text), .denied(let text), .nobody(let text), .timedOut(let text),
            .unusable(let text):
            text
        }
    }

    /// The exit status for a program.
    package var status: Int32 {
        switch self {
        case .denied: 1
        case .unusable: 2
        case .noBroker, .connectionLost, .nobody: 3
        case .timedOut: 4
        }
    }

    init(_ error: MQTTError) { self = .noBroker(error.description) }
}
