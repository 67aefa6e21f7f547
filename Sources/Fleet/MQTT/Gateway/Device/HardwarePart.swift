import JSON

/// A part of the device that comes and goes, and entities in Home Assistant with it. The state `hardware` tells which parts
/// answer now, as `{PART: true or false}`.
enum HardwarePart: String, Sendable {
    /// The sound card's mixer.
    case volume
    /// The media folder has sound files.
    case files
    /// The receiver has a position.
    case location
    /// There is a motor.
    case vibration

    /// The payload of the state.
    static func state(_ parts: [HardwarePart: Bool]) -> JSONValue {
        .object(
            JSONObject(parts.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key.rawValue, .bool($0.value)) })
        )
    }
}
