import CJavaScriptCore
import Glibc
import JavaScriptCore

/// Compares calls between JavaScript and Swift with the same calls through the bare C API, in turn, in one process.
@main
enum JavaScriptCalls {
    static let count = 1_000_000
    static let rounds = 7

    static func main() throws {
        guard let context = JSContext() else { return }
        let bare = try Bare()
        context["add"] = JSValue(newFunctionIn: context) { (x: Double) in x + 1 }
        context["text"] = JSValue(newFunctionIn: context) { (text: String) in text.utf8.count }
        let loop = "(function () { var x = 0; for (var i = 0; i < \(count); i++) x = add(x); return x })"
        let swiftLoop: JSValue = context.evaluateScript(loop)
        let swiftFunction: JSValue = context.evaluateScript("(function (x) { return x + 1 })")
        let bareLoop = bare.evaluate(loop)
        let bareFunction = bare.evaluate("(function (x) { return x + 1 })")

        var into: [(bare: Double, swift: Double)] = []
        var out: [(bare: Double, swift: Double, any: Double)] = []
        for _ in 0..<rounds {
            into.append(
                (
                    nanoseconds { bare.call(bareLoop) },
                    try nanoseconds { try swiftLoop.callAsFunction() }
                )
            )
            out.append(
                (
                    nanoseconds {
                        var x = 0.0
                        for _ in 0..<count { x = bare.call(bareFunction, x) }
                    },
                    try nanoseconds {
                        var x = 0.0
                        for _ in 0..<count { x = try swiftFunction.callAsFunction(x, returning: Double.self) }
                    },
                    nanoseconds {
                        var x = 0.0
                        for _ in 0..<count { x = swiftFunction.call(withArguments: [x]).toDouble() }
                    }
                )
            )
        }
        show("JavaScript → native", median(into.map(\.bare)), [("Swift closure", median(into.map(\.swift)))])
        show(
            "native → JavaScript",
            median(out.map(\.bare)),
            [
                ("callAsFunction", median(out.map(\.swift))),
                ("call(withArguments:)", median(out.map(\.any))),
            ]
        )
    }

    private static func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
        let time = try ContinuousClock().measure { try body() }
        let nanoseconds: Double = time / .nanoseconds(1)
        return nanoseconds / Double(count)
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static func show(_ title: String, _ bare: Double, _ others: [(String, Double)]) {
        print("\(title): C API \(Int(bare)) ns", terminator: "")
        for (name, time) in others {
            print(", \(name) \(Int(time)) ns (\((time / bare * 100).rounded() / 100) ×)", terminator: "")
        }
        print()
    }
}

/// The C API and nothing else.
struct Bare {
    private let context: OpaquePointer

    struct NoContext: Error {}

    init() throws {
        guard let context = JSGlobalContextCreate(nil) else { throw NoContext() }
        self.context = context
        let name = JSStringCreateWithUTF8CString("add")
        let function = JSObjectMakeFunctionWithCallback(context, name) { context, _, _, _, arguments, exception in
            JSValueMakeNumber(context, JSValueToNumber(context, arguments?[0], exception) + 1)
        }
        JSObjectSetProperty(context, JSContextGetGlobalObject(context), name, function, 0, nil)
        JSStringRelease(name)
    }

    func evaluate(_ script: String) -> OpaquePointer? {
        let text = JSStringCreateWithUTF8CString(script)
        defer { JSStringRelease(text) }
        let value = JSEvaluateScript(context, text, nil, nil, 1, nil)
        JSValueProtect(context, value)
        return value
    }

    func call(_ function: OpaquePointer?) { JSObjectCallAsFunction(context, function, nil, 0, nil, nil) }

    /// With a number, for a number.
    @inline(__always)
    func call(_ function: OpaquePointer?, _ number: Double) -> Double {
        var argument = JSValueMakeNumber(context, number)
        return JSValueToNumber(context, JSObjectCallAsFunction(context, function, nil, 1, &argument, nil), nil)
    }
}
