/// The reply of `hello`.
public struct Identity: Sendable {
    public var version: String
    /// The devices that are simulated, such as `sound`.
    public var simulated: [String]

    public init(version: String, simulated: [String]) {
        self.version = version
        self.simulated = simulated
    }

    public static let program = "quickconnectd"
    public static let protocolVersion: Int64 = 1
}
