internal import JSON

/// A handler that a client registers, as a command object of any phase: `script:NAME` in a mapping.
///
/// In the business phase its answer is the result. In the view phase an answer other than `null`, or one with
/// `handlerName`, is the reply. `"end": true` ends the stack. An error in the validation phase is `invalid`; elsewhere
/// it keeps its code if that is one of the protocol's; otherwise it is `scriptFailed`.
public struct HandlerCommandObject: WaitingValCO, WaitingBCO, WaitingVCO, WaitingECO, AnsweredObject {
    /// The handler's name.
    public let name: String
    var service: String?
    private let handlers: HandlerRegistry

    /// The command object of `script:NAME`.
    public init(_ name: String, handlers: HandlerRegistry) {
        self.name = name
        self.handlers = handlers
    }

    /// Asks the handler whether the call may go on; `unavailable` if nobody has registered it.
    public func validate(_ call: borrowing Call) throws(CommandError) -> Awaited<ValidationOutcome> {
        .handler(try handler())
    }

    /// Asks the handler for a result; `unavailable` if nobody has registered it.
    public func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        .handler(try handler())
    }

    /// Asks the handler for a reply; `unavailable` if nobody has registered it.
    public func show(_ call: borrowing Call) throws(CommandError) -> Awaited<ViewOutcome> { .handler(try handler()) }

    /// Tells the handler of an error; `unavailable` if nobody has registered it.
    public func see(_ error: CommandError, of call: borrowing Call) throws(CommandError) -> Awaited<ErrorOutcome> {
        .handler(try handler())
    }

    private func handler() throws(CommandError) -> HandlerWait {
        do throws(CommandError) {
            return try handlers.wait(for: name)
        } catch {
            guard let service else { throw error }
            let sentence = "\(error.message); the service \(service) does when it runs"
            throw CommandError(.unavailable, sentence, details: ["service": .string(service)])
        }
    }
}
