/// What all connections share: where calls go, who gets events, and whose handlers answer.
public struct Router: Sendable {
    public let frontController: FrontController
    public let handlers: HandlerRegistry
    public let events: EventHub

    public init(_ frontController: FrontController, _ handlers: HandlerRegistry, _ events: EventHub) {
        self.frontController = frontController
        self.handlers = handlers
        self.events = events
    }
}
