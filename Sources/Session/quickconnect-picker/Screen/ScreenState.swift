import JSON
import QuickConnectClient

/// What can be changed of a screen.
enum ScreenPart: String, CaseIterable, Sendable {
    /// 1: it is on; 0: it is off.
    case on
    /// In percent.
    case brightness
    /// Clockwise, in degrees: 0, 90, 180 or 270.
    case rotation

    /// The values that it may have.
    func allows(_ value: Double) -> Bool {
        switch self {
        case .on: value == 0 || value == 1
        case .brightness: (0...100).contains(value)
        case .rotation: [0, 90, 180, 270].contains(value)
        }
    }

    /// Whether it is as was asked for. Few screens know a hundred steps of brightness.
    func fits(_ value: Double, _ wanted: Double) -> Bool { abs(value - wanted) <= (self == .brightness ? 10 : 0) }

    func json(_ value: Double) -> JSONValue {
        switch self {
        case .on: .bool(value == 1)
        case .brightness: .number(value.rounded())
        case .rotation: .integer(Int64(value))
        }
    }

    /// What is done to the screen, for a sentence that it cannot be done.
    func verb(_ value: Double) -> String {
        switch self {
        case .on: value == 1 ? "turned on" : "turned off"
        case .brightness: "dimmed"
        case .rotation: "turned"
        }
    }
}

/// Some of a screen's parts, as they are or are to be.
typealias ScreenState = [ScreenPart: Double]

extension ScreenState {
    /// What a call asks for. The mapping has checked what it declares.
    init(_ changes: JSONValue) throws(HandlerCall.Failure) {
        self = [:]
        for part in ScreenPart.allCases {
            guard let value = changes.objectValue?[part.rawValue] else { continue }
            let number = part == .on ? value.boolValue.map { $0 ? 1 : 0 } : value.numberValue
            guard let number, part.allows(number) else {
                throw .expected("\(part) as screen answers it", at: "/0/\(part)", got: value)
            }
            self[part] = number
        }
        if isEmpty { throw .expected("on, brightness or rotation", at: "/0", got: changes) }
    }

    var json: JSONValue {
        .object(
            JSONObject(ScreenPart.allCases.compactMap { part in self[part].map { (part.rawValue, part.json($0)) } })
        )
    }
}
