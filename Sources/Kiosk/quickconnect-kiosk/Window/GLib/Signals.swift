import CWebKit

/// What a signal passes on besides the object that sends it. The first has the number 1, as the object has 0.
struct SignalParameters {
    fileprivate let values: UnsafePointer<GValue>

    /// An object, a boxed value or a text, as the signal's documentation says.
    func pointer<T>(_ number: Int) -> UnsafeMutablePointer<T>? { raw(number).map { cast($0) } }
    func raw(_ number: Int) -> UnsafeMutableRawPointer? { g_value_peek_pointer(values + number) }
    func text(_ number: Int) -> String { g_value_get_string(values + number).map { String(cString: $0) } ?? "" }
    /// The value of an enumeration.
    func choice(_ number: Int) -> UInt32 { UInt32(bitPattern: g_value_get_enum(values + number)) }
    func integer(_ number: Int) -> Int32 { g_value_get_int(values + number) }
    func count(_ number: Int) -> UInt64 { UInt64(g_value_get_uint64(values + number)) }
}

/// Runs a body for a signal of an object. The body lives as long as the object.
func connect(_ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping (SignalParameters) -> Void) {
    SignalBody { parameters, _ in body(parameters) }.connect(object, signal)
}

/// Runs a body for a signal that asks something, such as whether it has been dealt with.
func connect(_ object: UnsafeMutableRawPointer, asking signal: String, _ body: @escaping (SignalParameters) -> Bool) {
    SignalBody { parameters, result in
        let answer = body(parameters)
        if let result { g_value_set_boolean(result, answer ? 1 : 0) }
    }.connect(object, signal)
}

/// Answers a signal that asks for an object, which stays the answering side's.
func connect(_ object: UnsafeMutableRawPointer, asking signal: String, for answer: UnsafeMutableRawPointer) {
    SignalBody { _, result in if let result { g_value_take_object(result, answer) } }.connect(object, signal)
}

private final class SignalBody {
    private let body: (SignalParameters, UnsafeMutablePointer<GValue>?) -> Void

    init(_ body: @escaping (SignalParameters, UnsafeMutablePointer<GValue>?) -> Void) { self.body = body }

    func connect(_ object: UnsafeMutableRawPointer, _ signal: String) {
        let data = Unmanaged.passRetained(self).toOpaque()
        let closure = g_closure_new_simple(guint(MemoryLayout<GClosure>.size), data)
        g_closure_set_marshal(closure, Self.run)
        g_closure_add_finalize_notifier(closure, data) { data, _ in
            if let data { Unmanaged<SignalBody>.fromOpaque(data).release() }
        }
        g_signal_connect_closure(object, signal, closure, 0)
    }

    private static let run: GClosureMarshal = { closure, result, _, values, _, _ in
        guard let data = closure?.pointee.data, let values else { return }
        (owner(data) as SignalBody).body(SignalParameters(values: values), result)
    }
}

/// The end of something that the engine does meanwhile. It is run once, with the object that was asked and its result.
final class AsyncEnd {
    private let body: (UnsafeMutableRawPointer, OpaquePointer?) -> Void

    init(_ body: @escaping (UnsafeMutableRawPointer, OpaquePointer?) -> Void) { self.body = body }

    /// What C is given with ``run``.
    var retained: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    static let run: GAsyncReadyCallback = { object, result, data in
        guard let object, let data else { return }
        Unmanaged<AsyncEnd>.fromOpaque(data).takeRetainedValue().body(object, result)
    }
}
