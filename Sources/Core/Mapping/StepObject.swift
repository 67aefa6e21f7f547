import Concurrency

/// A command object in the phase that it is mapped to.
///
/// There is a subclass for each kind of command object, so that running one copies nothing.
class StepObject: @unchecked Sendable {
    // Sendable because it and the classes below have only constants, of Sendable types.
    let phase: Phase
    /// Whether it may have to wait.
    let waits: Bool
    let touchesDevice: Bool

    fileprivate init(_ phase: Phase, waits: Bool, touchesDevice: Bool) {
        self.phase = phase
        self.waits = waits
        self.touchesDevice = touchesDevice
    }

    /// Runs the command object, which a subclass holds; the call receives the results.
    func run(_ call: inout Call) throws(CommandError) -> StepResult {
        throw CommandError(.internal, "the step has no command object")
    }

    /// The step of an object in a phase; nil if the object does not belong in that phase.
    static func make(_ object: any CommandObject, in phase: Phase) -> StepObject? {
        switch (phase, object) {
        case (.validation, let object as any ValCO): ValidationStep(object)
        case (.validation, let object as any WaitingValCO): WaitingValidationStep(object)
        case (.business, let object as any BCO): BusinessStep(object)
        case (.business, let object as any WaitingBCO): make(object)
        case (.view, let object as any VCO): ViewStep(object)
        case (.view, let object as any WaitingVCO): WaitingViewStep(object)
        case (.error, let object as any ECO): ErrorStep(object)
        case (.error, let object as any WaitingECO): WaitingErrorStep(object)
        default: nil
        }
    }

    static func make(_ object: any BCO) -> StepObject { BusinessStep(object) }

    static func make(_ object: any WaitingBCO) -> StepObject { WaitingBusinessStep(object) }

    /// The phases that an object may be mapped to.
    static func phases(of object: any CommandObject) -> [Phase] {
        Phase.allCases.filter { make(object, in: $0) != nil }
    }
}

private final class ValidationStep: StepObject, @unchecked Sendable {
    private let object: any ValCO

    init(_ object: any ValCO) {
        self.object = object
        super.init(.validation, waits: false, touchesDevice: object.touchesDevice)
    }

    override func run(_ call: inout Call) throws(CommandError) -> StepResult {
        call.take(try object.validate(call))
    }
}

private final class BusinessStep: StepObject, @unchecked Sendable {
    private let object: any BCO

    init(_ object: any BCO) {
        self.object = object
        super.init(.business, waits: false, touchesDevice: object.touchesDevice)
    }

    override func run(_ call: inout Call) throws(CommandError) -> StepResult {
        call.take(try object.handle(call))
    }
}

private final class ViewStep: StepObject, @unchecked Sendable {
    private let object: any VCO

    init(_ object: any VCO) {
        self.object = object
        super.init(.view, waits: false, touchesDevice: object.touchesDevice)
    }

    override func run(_ call: inout Call) throws(CommandError) -> StepResult {
        call.take(try object.show(call))
    }
}

private final class ErrorStep: StepObject, @unchecked Sendable {
    private let object: any ECO

    init(_ object: any ECO) {
        self.object = object
        super.init(.error, waits: false, touchesDevice: object.touchesDevice)
    }

    override func run(_ call: inout Call) throws(CommandError) -> StepResult {
        call.take(try object.see(call.failure, of: call))
    }
}

private final class WaitingValidationStep: StepObject, @unchecked Sendable {
    private let object: any WaitingValCO

    init(_ object: any WaitingValCO) {
        self.object = object
        super.init(.validation, waits: true, touchesDevice: object.touchesDevice)
    }

    override func run(_ call: inout Call) throws(CommandError) -> StepResult {
        StepResult(try object.validate(call), of: &call, StepOutcome.validation)
    }
}

private final class WaitingBusinessStep: StepObject, @unchecked Sendable {
    private let object: any WaitingBCO

    init(_ object: any WaitingBCO) {
        self.object = object
        super.init(.business, waits: true, touchesDevice: object.touchesDevice)
    }

    override func run(_ call: inout Call) throws(CommandError) -> StepResult {
        StepResult(try object.handle(call), of: &call, StepOutcome.business)
    }
}

private final class WaitingViewStep: StepObject, @unchecked Sendable {
    private let object: any WaitingVCO

    init(_ object: any WaitingVCO) {
        self.object = object
        super.init(.view, waits: true, touchesDevice: object.touchesDevice)
    }

    override func run(_ call: inout Call) throws(CommandError) -> StepResult {
        StepResult(try object.show(call), of: &call, StepOutcome.view)
    }
}

private final class WaitingErrorStep: StepObject, @unchecked Sendable {
    private let object: any WaitingECO

    init(_ object: any WaitingECO) {
        self.object = object
        super.init(.error, waits: true, touchesDevice: object.touchesDevice)
    }

    override func run(_ call: inout Call) throws(CommandError) -> StepResult {
        StepResult(try object.see(call.failure, of: call), of: &call, StepOutcome.error)
    }
}
