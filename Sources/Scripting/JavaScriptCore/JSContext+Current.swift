/// Information for a function that JavaScript calls.
extension JSContext {
    /// The context that called the Swift function running on this thread; nil outside of one.
    public class func current() -> JSContext! { NativeFrame.current?.context }

    /// The function that JavaScript called; nil outside of one.
    public class func currentCallee() -> JSValue! { NativeFrame.current.flatMap { $0.value(of: $0.callee) } }

    /// The object of the call, its `this`; nil outside of one.
    public class func currentThis() -> JSValue! { NativeFrame.current.flatMap { $0.value(of: $0.this) } }

    /// All arguments of the call, each a ``JSValue``, including those beyond its parameters; nil outside of one.
    public class func currentArguments() -> [Any]! {
        NativeFrame.current.map { frame in (0..<frame.count).compactMap { frame.value($0) } }
    }
}
