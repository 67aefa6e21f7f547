/// The names of gateways' users and groups, as rules write them: `web:ann`. Never looked up among the accounts of the
/// device, where no name has a colon.
public enum GatewayName {
    // Bytes, for a colon with an accent behind it is no colon to a Character.
    private static let separator = UInt8(ascii: ":")

    /// Whether a rule means a gateway's user or group.
    public static func isOne(_ name: String) -> Bool { name.utf8.contains(separator) }

    /// `web:ann`, of `ann` and `web`.
    public static func of(_ name: String, through gateway: String) -> String { "\(gateway):\(name)" }

    /// The gateway and the name, of `web:ann`; nil where it is no gateway's.
    public static func parts(_ name: String) -> (gateway: String, name: String)? {
        guard let index = name.utf8.firstIndex(of: separator) else { return nil }
        let bytes = name.utf8
        return (
            String(decoding: bytes[..<index], as: UTF8.self),
            String(decoding: bytes[bytes.index(after: index)...], as: UTF8.self)
        )
    }

    /// What a gateway may call its users and groups, for error messages.
    public static let expectation = "1 to \(Limits.nameBytes) bytes without a colon and without control characters"

    /// Whether a gateway may call a user or group this. Without colons, nobody's name reads as another gateway's.
    public static func isValid(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= Limits.nameBytes && !isOne(name)
            && name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }
}
