/// A command object in the phase that it is mapped to.
enum StepObject: Sendable {
    case validation(any ValCO)
    case business(any BCO)
    case view(any VCO)
    case error(any ECO)
    case waitingValidation(any WaitingValCO)
    case waitingBusiness(any WaitingBCO)
    case waitingView(any WaitingVCO)
    case waitingError(any WaitingECO)

    /// Nil where the object is none of that phase's.
    init?(_ object: any CommandObject, in phase: Phase) {
        switch (phase, object) {
        case (.validation, let object as any ValCO): self = .validation(object)
        case (.validation, let object as any WaitingValCO): self = .waitingValidation(object)
        case (.business, let object as any BCO): self = .business(object)
        case (.business, let object as any WaitingBCO): self = .waitingBusiness(object)
        case (.view, let object as any VCO): self = .view(object)
        case (.view, let object as any WaitingVCO): self = .waitingView(object)
        case (.error, let object as any ECO): self = .error(object)
        case (.error, let object as any WaitingECO): self = .waitingError(object)
        default: return nil
        }
    }

    /// The phases that an object may be mapped to.
    static func phases(of object: any CommandObject) -> [Phase] {
        Phase.allCases.filter { StepObject(object, in: $0) != nil }
    }

    var phase: Phase {
        switch self {
        case .validation, .waitingValidation: .validation
        case .business, .waitingBusiness: .business
        case .view, .waitingView: .view
        case .error, .waitingError: .error
        }
    }

    var waits: Bool {
        switch self {
        case .validation, .business, .view, .error: false
        case .waitingValidation, .waitingBusiness, .waitingView, .waitingError: true
        }
    }

    var touchesDevice: Bool {
        switch self {
        case .validation(let object): object.touchesDevice
        case .business(let object): object.touchesDevice
        case .view(let object): object.touchesDevice
        case .error(let object): object.touchesDevice
        case .waitingValidation(let object): object.touchesDevice
        case .waitingBusiness(let object): object.touchesDevice
        case .waitingView(let object): object.touchesDevice
        case .waitingError(let object): object.touchesDevice
        }
    }
}
