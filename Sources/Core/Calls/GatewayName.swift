/// The names of gateways' users and groups in rules: `web:ann`. They are never looked up among the accounts of the
/// device, whose names have no colon.
public enum GatewayName {
    // Compares bytes: a colon followed by a combining accent is a different Character.
    private static let separator = UInt8(ascii: ":")

    /// Whether a rule names a gateway's user or group.
    public static func isOne(_ name: String) -> Bool { name.utf8.contains(separator) }

    /// `web:ann`, from `ann` and `web`.
    public static func of(_ name: String, through gateway: String) -> String { "\(gateway):\(name)" }

    /// The gateway and the name, from `web:ann`; nil if it has no gateway.
    public static func parts(_ name: String) -> (gateway: String, name: String)? {
        guard let index = name.utf8.firstIndex(of: separator) else { return nil }
        let bytes = name.utf8
        return (
            String(decoding: bytes[..<index], as: UTF8.self),
            String(decoding: bytes[bytes.index(after: index)...], as: UTF8.self)
        )
    }

    /// What names a gateway may give its users and groups, for error messages.
    public static let expectation = "1 to \(Limits.nameBytes) bytes without a colon and without control characters"

    /// Whether a gateway may give a user or group this name. Without colons, no name can look like another gateway's.
    public static func isValid(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= Limits.nameBytes && !isOne(name)
            && name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }
}
