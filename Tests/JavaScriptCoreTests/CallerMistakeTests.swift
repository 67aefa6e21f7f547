import Foundation
import JavaScriptCore
import Testing

/// What a caller can give that makes no sense: an answer, and never the end of the process.
@Suite(.timeLimit(.minutes(5))) struct CallerMistakeTests {
    let context: JSContext

    init() throws { context = try #require(JSContext()) }

    @Test(arguments: [Int.min, -1, 0, 1 << 31, 1 << 40, .max])
    func aScriptMayStartAtAnyLine(line: Int) throws {
        #expect(try context.evaluate("1 + 1", line: line).toInt32() == 2)
        #expect(throws: Never.self) { try context.checkSyntax("1", line: line) }
        let error = #expect(throws: JSError.self) { try context.evaluate("\nnope", sourceURL: "f.js", line: line) }
        #expect(error?.line == (line < 1 ? 2 : 1 << 31))
    }

    @Test func aValueInNoContextIsNil() throws {
        let none: JSContext? = nil
        let values: [JSValue?] = [
            JSValue(object: 1, in: none), JSValue(bool: true, in: none), JSValue(double: 1, in: none),
            JSValue(int32: 1, in: none), JSValue(uInt32: 1, in: none), JSValue(nullIn: none),
            JSValue(undefinedIn: none), JSValue(newObjectIn: none), JSValue(newArrayIn: none),
            JSValue(newRegularExpressionFromPattern: "a", flags: "", in: none),
            JSValue(newErrorFromMessage: "a", in: none), JSValue(newSymbolFromDescription: "a", in: none),
            JSValue(newPromiseIn: none) { _, _ in }, JSValue(newPromiseResolvedWithResult: 1, in: none),
            JSValue(newPromiseRejectedWithReason: 1, in: none),
        ]
        #expect(values.allSatisfy { $0 == nil })
        #expect(JSContext(virtualMachine: nil) == nil)
    }

    @Test func whatIsLeftOutIsTakenAsNothing() throws {
        #expect(context.evaluateScript(nil).isUndefined)
        #expect(JSValue(newErrorFromMessage: nil, in: context)["message"].toString() == "")
        #expect(JSValue(newRegularExpressionFromPattern: nil, flags: nil, in: context).isObject)
        #expect(JSValue(newPromiseIn: context, fromExecutor: nil).isObject)
        let function: JSValue = context.evaluateScript("(function () { return arguments.length })")
        #expect(function.call(withArguments: nil).toInt32() == 0)
        #expect(function.construct(withArguments: nil).isObject)
        #expect(context.globalObject.objectForKeyedSubscript(nil).isUndefined)
        #expect(context.globalObject.toObjectOf(nil) == nil)
        context.name = nil
        context.exceptionHandler = nil
        context.evaluateScript("throw 1")
        #expect(context.exception.toInt32() == 1)
    }

    @Test func aManagedValueOfNothingIsNil() throws {
        #expect(JSManagedValue(value: nil) == nil)
        #expect(JSManagedValue(value: nil, andOwner: nil) == nil)
        let machine = try #require(context.virtualMachine)
        let gone = try #require(JSManagedValue(value: context.evaluateScript("({})")))
        context.evaluateScript("(function f(n) { var o = {n: n}; return n ? f(n - 1) + o.n : 0 })(200); 0")
        for _ in 0..<3 { machine.collectGarbage() }
        #expect(gone.value == nil)
        #expect(JSManagedValue(value: gone.value) == nil)
        machine.addManagedReference(gone, withOwner: nil)
        machine.removeManagedReference(gone, withOwner: context)
        machine.addManagedReference(nil, withOwner: nil)
        #expect(JSValue(object: gone, in: context).isUndefined)
    }

    @Test func swiftValuesThatAreNestedTooDeepAreAnError() throws {
        var deep: Any = "leaf"
        for _ in 0..<512 { deep = [deep] }
        #expect(JSValue(object: deep, in: context).isArray)
        #expect(JSValue(object: ["one more": deep], in: context).isUndefined)
        #expect(context.exception.toString().contains("nested deeper than 512 levels"))
        let function: JSValue = context.evaluateScript("(function (x) { return x })")
        #expect(throws: JSError.self) { try function.call([[deep]]) }
    }

    @Test func whatIsNoConstructorIsATypeError() throws {
        for script in ["({})", "5", "() => 1", "undefined"] {
            context.exception = nil
            #expect(context.evaluateScript(script).construct(withArguments: []).isUndefined)
            #expect(context.exception.toString().hasPrefix("TypeError: "), "\(script)")
        }
    }

    private final class Circle: JSExport {
        static let jsExports = JSExports("Circle", extending: Circle.self).property(readOnly: "r") { (_: Circle) in 1 }
    }

    private final class Hen: JSExport { static let jsExports = JSExports("Hen", extending: Egg.self) }
    private final class Egg: JSExport { static let jsExports = JSExports("Egg", extending: Hen.self) }

    @Test func aClassThatExtendsItselfExtendsNothing() throws {
        context.setObject(Circle(), forKeyedSubscript: "circle")
        context["Hen"] = context.constructor(of: Hen.self)
        context.setObject(Egg(), forKeyedSubscript: "egg")
        #expect(context.evaluateScript("circle.r").toInt32() == 1)
        #expect(context.evaluateScript("typeof Hen + egg.constructor.name").toString() == "functionEgg")
    }

    private final class Fresh: JSExport {
        static var jsExports: JSExports { JSExports("Fresh").property(readOnly: "me") { (_: Fresh) in "fresh" } }
    }

    private final class Other: JSExport {
        static var jsExports: JSExports { JSExports("Other").property(readOnly: "me") { (_: Other) in "other" } }
    }

    @Test func exportsThatAreMadeAnewEachTimeAreKeptApart() throws {
        for _ in 0..<20 {
            context.setObject(Fresh(), forKeyedSubscript: "fresh")
            context.setObject(Other(), forKeyedSubscript: "other")
            #expect(context.evaluateScript("fresh.me + other.me").toString() == "freshother")
        }
        #expect(context.constructor(of: Fresh.self).isEqual(to: context.evaluateScript("fresh.constructor")))
    }

    /// Uses the context when it is dropped.
    private final class Parting: Sendable {
        let context: JSContext
        init(_ context: JSContext) { self.context = context }
        deinit {
            context.exceptionHandler = nil
            context.unhandledRejectionHandler = nil
        }
    }

    @Test func aHandlerThatIsReplacedMayUseTheContextAsItGoes() throws {
        do {
            let parting = Parting(context)
            context.exceptionHandler = { _, _ in withExtendedLifetime(parting) {} }
            let other = Parting(context)
            context.unhandledRejectionHandler = { _, _, _ in withExtendedLifetime(other) {} }
        }
        context.exceptionHandler = { context, error in context?.exception = error }
        context.unhandledRejectionHandler = nil
        #expect(context.evaluateScript("1").toInt32() == 1)
    }

    /// Sets a time limit when it is dropped.
    private final class Limiting: Sendable {
        let machine: JSVirtualMachine
        init(_ machine: JSVirtualMachine) { self.machine = machine }
        deinit { machine.setExecutionTimeLimit(30) { _ in true } }
    }

    @Test func aTimeLimitThatIsReplacedMaySetAnotherAsItGoes() throws {
        let machine = try #require(JSVirtualMachine())
        do {
            let limiting = Limiting(machine)
            machine.setExecutionTimeLimit(60) { _ in withExtendedLifetime(limiting) { true } }
        }
        #expect(machine.setExecutionTimeLimit(60) { _ in true })
        machine.clearExecutionTimeLimit()
    }
}
