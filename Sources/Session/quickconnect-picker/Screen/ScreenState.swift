import JSON
import QuickConnectClient

/// How a screen is, or what of it is to be changed. What a way cannot tell, and what stays as it is, is nil.
struct ScreenState: Sendable, Equatable {
    var isOn: Bool?
    /// In percent.
    var brightness: Double?
    /// Clockwise, in degrees: 0, 90, 180 or 270.
    var rotation: Int?

    init(isOn: Bool? = nil, brightness: Double? = nil, rotation: Int? = nil) {
        (self.isOn, self.brightness, self.rotation) = (isOn, brightness, rotation)
    }

    /// What the mapping declares has been checked.
    init(_ changes: JSONValue) throws(HandlerCall.Failure) {
        let members = changes.objectValue ?? [:]
        isOn = members["on"]?.boolValue
        brightness = members["brightness"]?.numberValue.map { min(max($0, 0), 100) }
        rotation = members["rotation"]?.integerValue.flatMap { Self.rotations.contains($0) ? Int($0) : nil }
        if self == ScreenState() { throw .expected("on, brightness or rotation", at: "/0", got: changes) }
    }

    private static let rotations: [Int64] = [0, 90, 180, 270]

    var json: JSONValue {
        var members: JSONObject = [:]
        if let isOn { members["on"] = .bool(isOn) }
        if let brightness { members["brightness"] = .number(brightness.rounded()) }
        if let rotation { members["rotation"] = .integer(Int64(rotation)) }
        return .object(members)
    }

    /// Whether it is as was asked for. Few screens know a hundred steps.
    func fits(_ wanted: ScreenState) -> Bool {
        if let isOn = wanted.isOn, isOn != self.isOn { return false }
        if let rotation = wanted.rotation, rotation != self.rotation { return false }
        guard let brightness = wanted.brightness else { return true }
        return self.brightness.map { abs($0 - brightness) <= 10 } ?? false
    }
}
