/// An object that another one keeps alive for longer than this is used. Its references are not counted; counting them
/// would take most of a call's time.
struct Borrowed<Object: AnyObject>: @unchecked Sendable {
    // Sendable because the objects that calls borrow are.
    private let reference: Unmanaged<Object>

    @inline(__always)
    init(_ object: Object) { reference = .passUnretained(object) }

    /// The object, with its reference counted.
    var object: Object { reference.takeUnretainedValue() }

    /// Gives `body` the object, without counting a reference.
    @inline(__always)
    func callAsFunction<Result>(_ body: (Object) -> Result) -> Result { reference._withUnsafeGuaranteedRef(body) }

    /// The same for functions that throw.
    @inline(__always)
    func attempt<Success, Failure: Error>(_ body: (Object) throws(Failure) -> Success) throws(Failure) -> Success {
        try self { object in Result { () throws(Failure) in try body(object) } }.get()
    }
}
