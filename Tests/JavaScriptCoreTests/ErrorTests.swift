import JavaScriptCore
import Synchronization
import Testing

@Suite struct ErrorTests {
    let context: JSContext

    init() throws { context = try #require(JSContext()) }

    @Test func anErrorHasItsPlaceAndItsStack() throws {
        let script = "function inner() {\n  throw new RangeError('too far')\n}\nfunction outer() { inner() }\nouter()"
        let error = #expect(throws: JSError.self) { try context.evaluate(script, sourceURL: "walk.js") }
        #expect(error?.name == "RangeError")
        #expect(error?.message == "too far")
        #expect(error?.file == "walk.js")
        #expect(error?.line == 2)
        #expect(error?.column != nil)
        #expect(error?.stack?.contains("outer@walk.js:4") == true)
        #expect(error?.description.hasPrefix("walk.js:2:") == true)
        #expect(error?.description.hasSuffix(": RangeError: too far") == true)
    }

    @Test func aMistakeInTheTextHasItsLine() throws {
        let error = #expect(throws: JSError.self) { try context.checkSyntax("var a = 1\nvar b = ;", sourceURL: "b.js") }
        #expect(error?.name == "SyntaxError")
        #expect(error?.line == 2)
        #expect(throws: Never.self) { try context.checkSyntax("var a = 1") }
    }

    @Test func theHandlerGetsTheException() throws {
        let got = Mutex("")
        context.exceptionHandler = { _, exception in got.withLock { $0 = exception?.toString() ?? "" } }
        #expect(context.evaluateScript("throw new Error('x')").isUndefined)
        #expect(got.withLock { $0 } == "Error: x")
        #expect(context.exception == nil)
    }

    @Test func theDefaultHandlerKeepsTheException() throws {
        #expect(context.evaluateScript("nope.x").isUndefined)
        #expect(context.exception.toString() == "ReferenceError: Can't find variable: nope")
        context.exception = nil
        #expect(context.evaluateScript("1").toInt32() == 1)
        #expect(context.exception == nil)
    }

    @Test func whatIsThrownNeedNotBeAnError() throws {
        let text = #expect(throws: JSError.self) { try context.evaluate("throw 'a text'") }
        #expect(text?.message == "a text")
        #expect(text?.name == nil)
        #expect(throws: JSError.self) { try context.evaluate("throw {toString() { throw 1 }}") }
        #expect(throws: JSError.self) { try context.evaluate("throw Symbol('s')") }
        #expect(throws: JSError.self) { try context.evaluate("throw undefined") }
    }

    @Test func rejectionsThatNobodyHandlesAreTold() throws {
        let reasons = Mutex<[String]>([])
        context.unhandledRejectionHandler = { _, promise, reason in
            #expect(promise?.isInstance(of: JSContext.current()["Promise"]) == true)
            reasons.withLock { $0.append(reason?.toString() ?? "") }
        }
        context.evaluateScript("Promise.reject(new Error('lost')); Promise.reject(1).catch(() => {})")
        context.evaluateScript("(async () => { await 0; throw 'late' })()")
        #expect(reasons.withLock { $0 } == ["Error: lost", "late"])
    }

    @Test func aValueOfAnotherMachineIsAnError() throws {
        let other = try #require(JSContext())
        let foreign: JSValue = other.evaluateScript("({a: 1})")
        context.setObject(foreign, forKeyedSubscript: "x")
        #expect(context.exception.toString().contains("one JSVirtualMachine cannot be used in another"))
        #expect(context["x"].isUndefined)
        let function: JSValue = context.evaluateScript("(function (x) { return x })")
        #expect(throws: JSError.self) { try function.call([foreign]) }
        #expect(throws: JSError.self) { try function.call([["inside": foreign]]) }
        #expect(!function.isEqual(to: foreign))
        #expect(JSValue(object: foreign, in: context).isUndefined)
        context["leak"] = JSValue(newFunctionIn: context) { () in foreign }
        #expect(context.evaluateScript("leak()").isUndefined)
    }

    @Test func valuesPassBetweenTheContextsOfOneMachine() throws {
        let machine = JSVirtualMachine()
        let a = try #require(JSContext(virtualMachine: machine))
        let b = try #require(JSContext(virtualMachine: machine))
        b.setObject(a.evaluateScript("({a: 1, f() { return this.a }})"), forKeyedSubscript: "o")
        #expect(b.evaluateScript("o.f()").toInt32() == 1)
        #expect(!b.evaluateScript("o instanceof Object").toBool())
    }

    @Test func theLimitOfTimeEndsALoopAndTheContextWorksOn() throws {
        let place = Mutex("")
        let machine = try #require(context.virtualMachine)
        let isLimited = machine.setExecutionTimeLimit(0.1) { backtrace in
            place.withLock { $0 = backtrace.first ?? "" }
            return true
        }
        #expect(isLimited, "the library does not limit time any more: the watching thread alone stops loops")
        let loop = "function spin() {\n  for (;;) {}\n}\ntry { spin() } catch (e) { 'caught' } finally { 'finally' }"
        #expect(throws: JSError.self) { try context.evaluate(loop, sourceURL: "loop.js") }
        #expect(place.withLock { $0 }.contains("spin() at loop.js"))
        machine.clearExecutionTimeLimit()
        #expect(context.evaluateScript("1 + 1").toInt32() == 2)
    }

    @Test func namesAndInspection() throws {
        context.name = "bell"
        #expect(context.name == "bell")
        #expect(!context.isInspectable)
        context.isInspectable = true
        #expect(context.isInspectable)
    }
}
