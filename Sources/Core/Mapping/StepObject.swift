/// A command object in the phase that it is mapped to.
final class StepObject: Sendable {
    typealias Run = @Sendable (inout Call) throws(CommandError) -> StepResult

    let phase: Phase
    /// Whether it may have to wait.
    let waits: Bool
    let touchesDevice: Bool
    /// Runs the command object; the call receives the results.
    let run: Run

    private init(_ object: any CommandObject, _ phase: Phase, waits: Bool = false, run: @escaping Run) {
        self.phase = phase
        self.waits = waits
        self.touchesDevice = object.touchesDevice
        self.run = run
    }

    /// The step of an object in a phase; nil if the object does not belong in that phase.
    static func make(_ object: any CommandObject, in phase: Phase) -> StepObject? {
        switch (phase, object) {
        case (.validation, let object as any ValCO):
            StepObject(object, phase) { call throws(CommandError) in call.take(try object.validate(call)) }
        case (.validation, let object as any WaitingValCO):
            StepObject(object, phase, waits: true) { call throws(CommandError) in
                StepResult(try object.validate(call), of: &call, StepOutcome.validation)
            }
        case (.business, let object as any BCO): make(object)
        case (.business, let object as any WaitingBCO): make(object)
        case (.view, let object as any VCO):
            StepObject(object, phase) { call throws(CommandError) in call.take(try object.show(call)) }
        case (.view, let object as any WaitingVCO):
            StepObject(object, phase, waits: true) { call throws(CommandError) in
                StepResult(try object.show(call), of: &call, StepOutcome.view)
            }
        case (.error, let object as any ECO):
            StepObject(object, phase) { call throws(CommandError) in call.take(try object.see(call.failure, of: call)) }
        case (.error, let object as any WaitingECO):
            StepObject(object, phase, waits: true) { call throws(CommandError) in
                StepResult(try object.see(call.failure, of: call), of: &call, StepOutcome.error)
            }
        default: nil
        }
    }

    static func make(_ object: any BCO) -> StepObject {
        StepObject(object, .business) { call throws(CommandError) in call.take(try object.handle(call)) }
    }

    static func make(_ object: any WaitingBCO) -> StepObject {
        StepObject(object, .business, waits: true) { call throws(CommandError) in
            StepResult(try object.handle(call), of: &call, StepOutcome.business)
        }
    }

    /// The phases that an object may be mapped to.
    static func phases(of object: any CommandObject) -> [Phase] {
        Phase.allCases.filter { make(object, in: $0) != nil }
    }
}
