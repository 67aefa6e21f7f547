internal import CJavaScriptCore

extension JSValue {
    /// A value for any Swift value, as in the table of docs/javascriptcore.md. Nil without a context.
    ///
    /// It is an error if the value, or something in an array or a dictionary, belongs to another machine, is nested
    /// deeper than 512 levels, or is a closure that JavaScript cannot call: the context's handler is told, and the
    /// value is `undefined`.
    public convenience init!(object: Any!, in context: JSContext!) {
        guard let context else { return nil }
        let value = context.reporting { () throws(JSError) in JSValue(try context.convert(object), in: context) }
        self.init(value.ref, in: context)
    }

    /// `true` or `false`. Nil without a context.
    public convenience init!(bool value: Bool, in context: JSContext!) {
        guard let context else { return nil }
        self.init(JSValueMakeBoolean(context.ref, value), in: context)
    }

    /// A number. Nil without a context.
    public convenience init!(double value: Double, in context: JSContext!) {
        guard let context else { return nil }
        self.init(JSValueMakeNumber(context.ref, value), in: context)
    }

    /// A number. Nil without a context.
    public convenience init!(int32 value: Int32, in context: JSContext!) {
        guard let context else { return nil }
        self.init(JSValueMakeNumber(context.ref, Double(value)), in: context)
    }

    /// A number. Nil without a context.
    public convenience init!(uInt32 value: UInt32, in context: JSContext!) {
        guard let context else { return nil }
        self.init(JSValueMakeNumber(context.ref, Double(value)), in: context)
    }

    /// `null`. Nil without a context.
    public convenience init!(nullIn context: JSContext!) {
        guard let context else { return nil }
        self.init(JSValueMakeNull(context.ref), in: context)
    }

    /// `undefined`. Nil without a context.
    public convenience init!(undefinedIn context: JSContext!) {
        guard let context else { return nil }
        self.init(JSValueMakeUndefined(context.ref), in: context)
    }

    /// An empty object, `{}`. Nil without a context.
    public convenience init!(newObjectIn context: JSContext!) {
        guard let context else { return nil }
        self.init(JSObjectMake(context.ref, nil, nil), in: context)
    }

    /// An empty array, `[]`. Nil without a context.
    public convenience init!(newArrayIn context: JSContext!) {
        guard let context else { return nil }
        self.init(JSObjectMakeArray(context.ref, 0, nil, nil), in: context)
    }

    /// A regular expression, as `new RegExp(pattern, flags)`. Nil without a context. If the pattern or the flags are
    /// wrong, it is `undefined` and the handler is told.
    public convenience init!(
        newRegularExpressionFromPattern pattern: String!,
        flags: String!,
        in context: JSContext!
    ) {
        guard let context else { return nil }
        let value = context["RegExp"].construct(withArguments: [pattern ?? "", flags ?? ""])
        self.init(value?.ref, in: context)
    }

    /// An error, as `new Error(message)`. Nil without a context.
    public convenience init!(newErrorFromMessage message: String!, in context: JSContext!) {
        guard let context else { return nil }
        self.init(context.makeError(message ?? "").ref, in: context)
    }

    /// A symbol, as `Symbol(description)`: each one is different. Nil without a context.
    public convenience init!(newSymbolFromDescription description: String!, in context: JSContext!) {
        guard let context else { return nil }
        self.init(Text.with(description ?? "") { JSValueMakeSymbol(context.ref, $0) }, in: context)
    }

    /// A promise. `executor` is called at once, with the functions that resolve and reject it. Nil without a context.
    public convenience init!(
        newPromiseIn context: JSContext!,
        fromExecutor executor: ((JSValue?, JSValue?) -> Void)!
    ) {
        guard let context else { return nil }
        var resolve: OpaquePointer?
        var reject: OpaquePointer?
        let promise = JSObjectMakeDeferredPromise(context.ref, &resolve, &reject, nil)
        executor?(JSValue(resolve, in: context), JSValue(reject, in: context))
        self.init(promise, in: context)
    }

    /// A promise that is already resolved with any Swift value. Nil without a context.
    public convenience init!(newPromiseResolvedWithResult result: Any!, in context: JSContext!) {
        self.init(newPromiseIn: context) { resolve, _ in _ = resolve?.call(withArguments: [result as Any]) }
    }

    /// A promise that is already rejected, with any Swift value as its reason. Nil without a context.
    public convenience init!(newPromiseRejectedWithReason reason: Any!, in context: JSContext!) {
        self.init(newPromiseIn: context) { _, reject in _ = reject?.call(withArguments: [reason as Any]) }
    }
}

extension JSError {
    static let foreign = JSError(message: "a value of one JSVirtualMachine cannot be used in another")
}
