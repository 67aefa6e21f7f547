public import JSON

/// A call on its way through its stack, as its command objects see it.
public struct Call: ~Copyable, Sendable {
    public let request: Request
    /// The command's name; one that no mapping has is cut where it is long.
    public var command: String { description.command }
    let description: CommandDescription
    /// The connection that the call came on.
    public let connection: any CallConnection
    /// The parameters that the mapping declares; nil where it declares none, and the arguments are what was sent.
    private var declared: ParameterList? { description.parameters }
    /// Where an object at the end stands for a later parameter.
    var trailing: ParameterList.Trailing?
    /// The results of the BCOs that have run.
    public internal(set) var results = Results()
    /// In the error phase, why the call failed.
    public internal(set) var error: CommandError?
    /// Whether a rule refused it, so that none of its command objects ran.
    public internal(set) var isRefused = false
    /// Whether `verbs` of the mapping names this caller for the call's first argument: what only an owner or root may do
    /// with what is somebody's, this caller then may too.
    public internal(set) var isGrantedByVerb = false
    private var handedOn: [any Sendable] = []

    init(_ request: consuming Request, _ description: CommandDescription, on connection: any CallConnection) {
        self.request = request
        self.description = description
        self.connection = connection
    }

    public var caller: Caller { connection.caller }

    /// The error, for the objects of the error phase.
    var failure: CommandError { error ?? CommandError(.internal, "there is no error") }

    // MARK: Arguments

    /// How many arguments there are: as many as are declared, and more where the last one repeats.
    public var argumentCount: Int {
        guard let declared else { return request.parameterCount }
        return max(declared.parameters.count, trailing == nil ? request.parameterCount : 0)
    }

    /// An argument as it came, or its default; `null` where it was left out.
    public func argument(_ index: Int) -> Message {
        if let sent = place(ofArgument: index) { return .text(request.parameter(sent)) }
        return declared?.defaultMessage(index) ?? .null
    }

    /// The value of an argument, nil where it was left out. It is built anew: ask once, and not for a large one.
    public subscript(index: Int) -> JSONValue? {
        let value = argument(index).value
        return value == .null ? nil : value
    }

    /// An argument that is a string, nil where it was left out or is something else.
    public func string(_ index: Int) -> String? {
        if let sent = place(ofArgument: index) { return String(checkedJSONString: request.parameterBytes(sent)) }
        return argument(index).stringValue
    }

    /// Which of the sent values stands for an argument; nil where its default does.
    private func place(ofArgument index: Int) -> Int? {
        if let declared { return declared.place(ofArgument: index, in: request, trailing) }
        return index < request.parameterCount ? index : nil
    }

    /// An argument that is a whole number, nil where it was left out or is something else.
    public func integer(_ index: Int) -> Int64? {
        switch argument(index) {
        case .value(let value): value.integerValue
        case .text(let text): text.integerValue
        }
    }

    /// An argument that is an object, as it came.
    public func object(_ index: Int) -> JSONText? {
        if case .text(let text) = argument(index), text.kind == .object { text } else { nil }
    }

    // MARK: What validation made

    /// What a ValCO of this stack has handed on, nil where none has handed on such a thing.
    public func handedOn<Value: Sendable>(_ type: Value.Type = Value.self) -> Value? {
        for value in handedOn { if let value = value as? Value { return value } }
        return nil
    }

    /// The same, made now where none has: an owner may have mapped the command without its ValCO.
    public func handedOn<Value: Sendable>(
        or make: (borrowing Call) throws(CommandError) -> Value
    ) throws(CommandError) -> Value {
        if let value: Value = handedOn() { return value }
        return try make(self)
    }

    mutating func handOn(_ value: any Sendable) { handedOn.append(value) }
}
