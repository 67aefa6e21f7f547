/// An object that somebody else keeps for longer than this is used: no reference to it is counted, which is what a call
/// would spend most of its time on else.
struct Borrowed<Object: AnyObject>: @unchecked Sendable {
    // Sendable as the objects that calls borrow are.
    private let reference: Unmanaged<Object>

    @inline(__always)
    init(_ object: Object) { reference = .passUnretained(object) }

    /// The object, counted for whoever takes it.
    var object: Object { reference.takeUnretainedValue() }

    /// Lends the object, uncounted.
    @inline(__always)
    func callAsFunction<Result>(_ body: (Object) -> Result) -> Result { reference._withUnsafeGuaranteedRef(body) }

    /// The same for what may fail.
    @inline(__always)
    func attempt<Success, Failure: Error>(_ body: (Object) throws(Failure) -> Success) throws(Failure) -> Success {
        try self { object in Result { () throws(Failure) in try body(object) } }.get()
    }
}
