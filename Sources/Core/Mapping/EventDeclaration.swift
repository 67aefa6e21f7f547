import JSON

/// An event that a mapping declares: who may post it, and what its data must be.
public struct EventDeclaration: Sendable, Hashable {
    /// The type and the bounds of its data.
    public var parameter: Parameter
    /// Whether a call of its name returns the data of the last one; otherwise it returns null.
    public var keepsLast: Bool
    /// The input device that it comes from; nil: from programs.
    public var binding: InputBinding?

    /// An event with a parameter's type and bounds.
    public init(_ parameter: Parameter, keepsLast: Bool = false) {
        self.parameter = parameter
        self.keepsLast = keepsLast
    }

    /// What its command returns.
    var result: Parameter {
        var result = keepsLast ? parameter : Parameter(parameter.name, .any)
        if keepsLast { result.isOptional = true } else { result.oneOf = [.null] }
        return result
    }
}

/// What an entry of a mapping is. Each kind is a command, with help and rights.
public enum EntryKind: String, Sendable, CaseIterable {
    /// Command objects.
    case stack
    /// State of the device, which outlives who set it.
    case value
    /// What happens, and whom it may be told by.
    case event
    /// When something happens.
    case schedule

    /// What its parameter does to it, for messages.
    var changing: String { self == .schedule ? "run" : "set" }

    /// What says what its calls return, for messages.
    var resultNoun: String { self == .schedule ? "next and last run" : "type" }

    /// With its article, for messages: `a value`.
    var noun: String {
        switch self {
        case .stack: "a stack of command objects"
        case .value: "a value"
        case .event: "an event"
        case .schedule: "a schedule"
        }
    }
}
