public import JSON

/// A call on its way through its stack, as its command objects see it.
///
/// It borrows its request, its command and its connection from its creator, and retains them only if it waits.
public struct Call: ~Copyable, Sendable {
    let borrowedRequest: Borrowed<Request>
    let description: Borrowed<CommandDescription>
    /// The connection that the call came on.
    public unowned(unsafe) let connection: any CallConnection
    /// The parameters that the mapping declares. Nil if it declares none; then the arguments are what was sent.
    private var declared: Borrowed<ParameterList>? { description { $0.borrowedParameters } }
    /// Set if an object at the end of what was sent fills a later parameter.
    var trailing: ParameterList.Trailing?
    /// The results of the BCOs that have run.
    public internal(set) var results = Results()
    /// Fields that few calls need, kept apart: a call is made for each line, so it is kept small.
    private var rare: Rare?

    private final class Rare: @unchecked Sendable {
        // Sendable because only one call has it, and a call is never copied.
        var error: CommandError?
        var isRefused = false
        var isGrantedByVerb = false
        var handedOn: [any Sendable] = []
        /// References to what the call borrowed, for a call that outlives its creator.
        var kept: (Request, CommandDescription, any CallConnection)?
    }

    /// - Parameters: all of them must live as long as the call, or until ``keep()``.
    @inline(__always)
    init(_ request: Request, _ description: CommandDescription, on connection: any CallConnection) {
        borrowedRequest = Borrowed(request)
        self.description = Borrowed(description)
        self.connection = connection
    }

    /// Retains what it has borrowed until now.
    mutating func keep() { makeRare().kept = (request, description.object, connection) }

    /// The request as it was received.
    public var request: Request { borrowedRequest.object }
    /// The command's name; a long name that no mapping has is shortened.
    public var command: String { description { $0.command } }
    /// On whose behalf the call runs.
    public var caller: Caller { connection.caller }

    private mutating func makeRare() -> Rare {
        let rare = rare ?? Rare()
        self.rare = rare
        return rare
    }

    /// In the error phase, why the call failed.
    public internal(set) var error: CommandError? {
        get { rare?.error }
        set { if newValue != nil || rare != nil { makeRare().error = newValue } }
    }

    /// Whether it failed.
    var hasFailed: Bool { rare != nil && rare?.error != nil }

    /// Whether a rule refused it, so that none of its command objects runs.
    public internal(set) var isRefused: Bool {
        get { rare?.isRefused ?? false }
        set { if newValue || rare != nil { makeRare().isRefused = newValue } }
    }

    /// Whether a rule in the mapping's `verbs` names the caller for this call. The caller may then also do what the
    /// command itself refuses to others, such as removing somebody else's file.
    public internal(set) var isGrantedByVerb: Bool {
        get { rare?.isGrantedByVerb ?? false }
        set { if newValue || rare != nil { makeRare().isGrantedByVerb = newValue } }
    }

    /// The error, for the command objects of the error phase.
    var failure: CommandError { error ?? CommandError(.internal, "there is no error") }

    // MARK: Arguments

    /// How many arguments there are: as many as are declared, and more if the last one repeats.
    public var argumentCount: Int {
        let sent = borrowedRequest { $0.parameterCount }
        guard let declared else { return sent }
        return max(declared { $0.parameters.count }, trailing == nil ? sent : 0)
    }

    /// An argument as it was received, or its default; `null` if it was left out.
    public func argument(_ index: Int) -> Message {
        if let sent = place(ofArgument: index) { return .text(borrowedRequest { $0.parameter(sent) }) }
        return declared.map { $0 { $0.defaultMessage(index) } } ?? .null
    }

    /// A short description of an argument, for messages that say what came: `the number 7`, or `nothing` if it was left
    /// out.
    public func gist(_ index: Int) -> String {
        let argument = argument(index)
        return argument.isNull && place(ofArgument: index) == nil ? "nothing" : argument.gist
    }

    /// The JSON pointer of an argument among the parameters as they were sent.
    public func field(_ index: Int) -> String { "/\(place(ofArgument: index) ?? index)" }

    /// The value of an argument; nil if it was left out. It is built at each call: ask only once, and not for a large
    /// one.
    public subscript(index: Int) -> JSONValue? {
        let value = argument(index).value
        return value == .null ? .none : value
    }

    /// An argument that is a string; nil if it was left out or is something else.
    public func string(_ index: Int) -> String? {
        if let sent = place(ofArgument: index) {
            return borrowedRequest { String(checkedJSONString: $0.parameterBytes(sent)) }
        }
        return argument(index).stringValue
    }

    /// Gives `body` the bytes of a string argument, which costs less than making a `String`.
    /// - Returns: nil if it was left out or is something else.
    public func withString<Result>(_ index: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result? {
        guard let sent = place(ofArgument: index) else {
            var text = argument(index).stringValue
            return text?.withUTF8(body)
        }
        return borrowedRequest { $0.parameterBytes(sent).withCheckedJSONString(body) }
    }

    /// Which of the sent values is the argument; nil if its default is.
    private func place(ofArgument index: Int) -> Int? {
        borrowedRequest { request in
            guard let declared else { return index < request.parameterCount ? index : nil }
            return declared { $0.place(ofArgument: index, in: request, trailing) }
        }
    }

    /// An argument that is a whole number; nil if it was left out or is something else.
    public func integer(_ index: Int) -> Int64? {
        switch argument(index) {
        case .value(let value): value.integerValue
        case .text(let text): text.integerValue
        }
    }

    /// An argument that is an object, as it was received.
    public func object(_ index: Int) -> JSONText? {
        if case .text(let text) = argument(index), text.kind == .object { text } else { nil }
    }

    // MARK: What validation made

    /// What a ValCO of this stack has handed on; nil if none has handed on a value of this type.
    public func handedOn<Value: Sendable>(_ type: Value.Type = Value.self) -> Value? {
        for value in rare?.handedOn ?? [] { if let value = value as? Value { return value } }
        return nil
    }

    /// The same, but makes the value if no ValCO has: an owner may have mapped the command without its ValCO.
    public func handedOn<Value: Sendable>(
        or make: (borrowing Call) throws(CommandError) -> Value
    ) throws(CommandError) -> Value {
        if let value: Value = handedOn() { return value }
        return try make(self)
    }

    mutating func handOn(_ value: any Sendable) { makeRare().handedOn.append(value) }
}
