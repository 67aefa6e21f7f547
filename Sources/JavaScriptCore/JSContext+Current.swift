/// For a function that JavaScript calls.
extension JSContext {
    /// The context that called the Swift function that runs on this thread; nil outside of one.
    public class func current() -> JSContext! { NativeFrame.current?.context }

    /// The function that JavaScript called; nil outside of one.
    public class func currentCallee() -> JSValue! { NativeFrame.current.flatMap { $0.value(of: $0.callee) } }

    /// What it was called on: its `this`; nil outside of one.
    public class func currentThis() -> JSValue! { NativeFrame.current.flatMap { $0.value(of: $0.this) } }

    /// All arguments that it was called with, each a ``JSValue``, also those that its parameters have no place for; nil
    /// outside of one.
    public class func currentArguments() -> [Any]! {
        NativeFrame.current.map { frame in (0..<frame.count).compactMap { frame.value($0) } }
    }
}
