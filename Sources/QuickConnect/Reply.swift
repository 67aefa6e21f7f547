public import JSON

/// What a caller gets: a value under a command, or an error.
public struct Reply: Sendable, Equatable {
    public enum Body: Sendable, Equatable {
        case value(JSONValue)
        case error(CommandError)
    }

    /// The command of the call; nil where it could not be read.
    public var call: String?
    /// The command that the value goes under: the call's own, unless a VCO says another (`showLoc` for `loc`).
    public var command: String
    public var body: Body
    public var id: String?
    public var form: WireForm

    /// A value under `command`, or under the call's own.
    public init(to request: borrowing Request, value: JSONValue, under command: String? = nil) {
        self.call = request.command
        self.command = command ?? request.command
        self.body = .value(value)
        self.id = request.id
        self.form = request.form
    }

    public init(to request: borrowing Request, error: CommandError) {
        self.init(error: error, call: request.command, id: request.id, form: request.form)
    }

    public init(error: CommandError, call: String? = nil, id: String? = nil, form: WireForm) {
        self.call = call
        self.command = Reply.errorCommand
        self.body = .error(error)
        self.id = id
        self.form = form
    }

    /// The command that error replies go under in the URL form.
    public static let errorCommand = "error"
}

/// A value that was not asked for by a call: a sensor's, or another client's `post`.
public struct Event: Sendable, Equatable {
    public enum Kind: Sendable {
        /// For a slow client, the newest value replaces older ones that still wait.
        case sensor
        /// Each one is delivered.
        case message
    }

    public var name: String
    public var value: JSONValue
    public var kind: Kind

    public init(_ name: String, _ value: JSONValue, kind: Kind) {
        self.name = name
        self.value = value
        self.kind = kind
    }
}

/// A call that the daemon passes on to the client that registered a handler. Always in the bridge form.
public struct HandlerCall: Sendable, Equatable {
    /// The handler's name.
    public var handler: String
    public var data: JSONValue
    /// The daemon's own id, which the answer carries as `responseId`.
    public var callbackId: String
    public var command: String
    public var phase: Phase
    /// The results of the business command objects that ran before.
    public var results: [JSONValue]
    /// In the error phase, the error.
    public var error: CommandError?
}

/// A line that goes out.
public enum OutgoingMessage: Sendable, Equatable {
    case reply(Reply)
    case event(Event, form: WireForm)
    case handlerCall(HandlerCall)
}
