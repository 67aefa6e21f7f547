internal import CJavaScriptCore
internal import CJavaScriptCoreShims

/// A running call from JavaScript to Swift. It lives on the stack of the thread that runs it.
struct NativeFrame {
    let ref: OpaquePointer
    let callee: OpaquePointer?
    let this: OpaquePointer?
    let arguments: UnsafePointer<OpaquePointer?>?
    let count: Int
    let box: Unmanaged<FunctionBox>

    static var current: NativeFrame? {
        qc_js_frame().map { $0.assumingMemoryBound(to: NativeFrame.self).pointee }
    }

    /// The argument at an index, or `undefined`.
    @inline(__always)
    func argument(_ index: Int) -> OpaquePointer? {
        index < count ? arguments.map { $0[index] } ?? undefined : undefined
    }

    var undefined: OpaquePointer? { JSValueMakeUndefined(ref) }

    /// Nil if the library called without one.
    var context: JSContext? { JSContext.of(ref) }

    /// The Swift object of that context has been released, but its JavaScript still runs: makes a new one.
    func adopt(_ global: OpaquePointer) -> JSContext? {
        JSContext(adopting: global, in: box.takeUnretainedValue().machine.takeUnretainedValue())
    }

    func value(_ index: Int) -> JSValue? { value(of: argument(index)) }

    func value(of ref: OpaquePointer?) -> JSValue? { context.map { JSValue(ref, in: $0) } }
}

/// A Swift function, as kept by its JavaScript function.
final class FunctionBox: @unchecked Sendable {
    // Sendable because it is immutable, and JavaScript calls it only while it holds the machine's lock.
    typealias Body = (NativeFrame) throws -> OpaquePointer?

    let name: String
    let body: Body
    /// What `new` runs; nil: it is not a constructor.
    let construct: Body?
    private let releaseQueue: ReleaseQueue
    /// The machine whose heap holds the function and which is therefore alive.
    let machine: Unmanaged<JSVirtualMachine>

    init(_ name: String, _ context: JSContext, construct: Body?, _ body: @escaping Body) {
        self.name = name
        self.body = body
        self.construct = construct
        releaseQueue = context.machine.releaseQueue
        machine = Unmanaged.passUnretained(context.machine)
    }

    func releaseLater() { releaseQueue.releaseLater(self) }
}

/// JavaScript functions that run Swift.
enum NativeFunction {
    /// Makes a function. The body returns a value of the library; what it throws becomes an exception.
    static func make(
        _ name: String,
        in context: JSContext,
        construct: FunctionBox.Body? = nil,
        _ body: @escaping FunctionBox.Body
    ) -> OpaquePointer? {
        let box = Unmanaged.passRetained(FunctionBox(name, context, construct: construct, body))
        guard let type = NativeClass.function.ref, let function = JSObjectMake(context.ref, type, box.toOpaque())
        else {
            box.release()
            return nil
        }
        // With these, `instanceof Function`, `call`, `apply` and `bind` work.
        let prototype = context.globalObject["Function"]["prototype"]
        JSObjectSetPrototype(context.ref, function, prototype.ref)
        if !name.isEmpty {
            context.define("name", as: name.toRef(in: context.ref), on: function)
        }
        return function
    }

    static let call: JSObjectCallAsFunctionCallback = { ref, callee, this, count, arguments, exception in
        guard let ref, let private_ = JSObjectGetPrivate(callee) else { return nil }
        let box = Unmanaged<FunctionBox>.fromOpaque(private_)
        let frame = NativeFrame(
            ref: ref,
            callee: callee,
            this: this,
            arguments: arguments,
            count: count,
            box: box
        )
        return run(frame, exception) { try box._withUnsafeGuaranteedRef { try $0.body(frame) } }
    }

    static let construct: JSObjectCallAsConstructorCallback = { ref, callee, count, arguments, exception in
        guard let ref, let private_ = JSObjectGetPrivate(callee) else { return nil }
        let box = Unmanaged<FunctionBox>.fromOpaque(private_)
        let frame = NativeFrame(
            ref: ref,
            callee: callee,
            this: nil,
            arguments: arguments,
            count: count,
            box: box
        )
        return run(frame, exception) {
            guard let construct = box.takeUnretainedValue().construct else {
                throw JSArgumentError("\(box.takeUnretainedValue().name) is not a constructor")
            }
            return try construct(frame)
        }
    }

    /// `value instanceof function`: whether the function's `prototype` is among the value's prototypes.
    static let hasInstance: JSObjectHasInstanceCallback = { ref, callee, value, exception in
        guard let ref, JSValueIsObject(ref, value) else { return false }
        let wanted = Text.with("prototype") { JSObjectGetProperty(ref, callee, $0, exception) }
        var candidate = JSObjectGetPrototype(ref, value)
        while JSValueIsObject(ref, candidate) {
            if JSValueIsStrictEqual(ref, candidate, wanted) { return true }
            candidate = JSObjectGetPrototype(ref, candidate)
        }
        return false
    }

    @inline(__always)
    private static func run(
        _ frame: NativeFrame,
        _ exception: UnsafeMutablePointer<OpaquePointer?>?,
        _ body: () throws -> OpaquePointer?
    ) -> OpaquePointer? {
        withUnsafePointer(to: frame) { pointer in
            let outer = qc_js_set_frame(pointer)
            defer { qc_js_set_frame(outer) }
            do {
                return try body()
            } catch {
                exception?.pointee = thrown(error, frame)
                return frame.undefined
            }
        }
    }

    /// What JavaScript sees of a Swift error.
    private static func thrown(_ error: any Error, _ frame: NativeFrame) -> OpaquePointer? {
        guard let context = frame.context else { return frame.undefined }
        if let error = error as? any JSErrorConvertible {
            let value = error.jsError(in: context)
            if let ref = context.accept(value) { return ref }
        }
        return context.makeError("\(error)").ref
    }
}

/// The library's two classes for Swift things: functions and objects.
final class NativeClass: @unchecked Sendable {
    // Sendable because a class of the library is immutable, and its reference count is atomic.
    let ref: OpaquePointer?

    private init(_ definition: JSClassDefinition) {
        var definition = definition
        ref = JSClassCreate(&definition)
    }

    static let function: NativeClass = {
        var definition = kJSClassDefinitionEmpty
        definition.attributes = JSClassAttributes(kJSClassAttributeNoAutomaticPrototype)
        definition.callAsFunction = NativeFunction.call
        definition.callAsConstructor = NativeFunction.construct
        definition.hasInstance = NativeFunction.hasInstance
        definition.finalize = { object in
            guard let box = JSObjectGetPrivate(object) else { return }
            let function = Unmanaged<FunctionBox>.fromOpaque(box)
            function.takeUnretainedValue().releaseLater()
            function.release()
        }
        return "Function".withCString { name in
            definition.className = name
            return NativeClass(definition)
        }
    }()

    static let object: NativeClass = {
        var definition = kJSClassDefinitionEmpty
        definition.attributes = JSClassAttributes(kJSClassAttributeNoAutomaticPrototype)
        definition.finalize = { object in
            guard let box = JSObjectGetPrivate(object) else { return }
            let wrapped = Unmanaged<ObjectBox>.fromOpaque(box)
            wrapped.takeUnretainedValue().releaseLater()
            wrapped.release()
        }
        return "NativeObject".withCString { name in
            definition.className = name
            return NativeClass(definition)
        }
    }()
}
