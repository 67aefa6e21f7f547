import Foundation
import JavaScriptCore
import Synchronization
import TestRig
import Testing

private final class Owner: JSExport {
    static let living = Atomic(0)
    var callback: JSManagedValue?
    let payload = [UInt8](repeating: 1, count: 10_000)

    init() { Self.living.add(1, ordering: .relaxed) }
    deinit { Self.living.subtract(1, ordering: .relaxed) }

    static let jsExports = JSExports("Owner").constructor { Owner() }
}

@Suite(.serialized) struct MemoryTests {
    @Test func aManagedValueLivesAsLongAsItsOwnerIsReached() throws {
        let context = try #require(JSContext())
        let machine = try #require(context.virtualMachine)
        let owner = Owner()
        context.setObject(owner, forKeyedSubscript: "owner")
        do {
            let callback: JSValue = context.evaluateScript("(function () { return owner ? 'here' : 'gone' })")
            owner.callback = JSManagedValue(value: callback, andOwner: owner)
        }
        churn(context, machine)
        #expect(owner.callback?.value?.call(withArguments: []).toString() == "here")
        context.evaluateScript("owner = null")
        churn(context, machine)
        #expect(owner.callback?.value == nil)
    }

    @Test func aManagedValueWithoutAnOwnerIsWeak() throws {
        let context = try #require(JSContext())
        let machine = try #require(context.virtualMachine)
        let value = try #require(JSManagedValue(value: context.evaluateScript("({a: 1})")))
        let number = try #require(JSManagedValue(value: context.evaluateScript("7")))
        churn(context, machine)
        #expect(value.value == nil)
        #expect(number.value.toInt32() == 7)
    }

    /// A Swift object keeps a function that reaches the object's wrapper: with a managed value both go.
    @Test func aCycleThroughBothLanguagesIsCollected() throws {
        let before = Owner.living.load(ordering: .relaxed)
        let context = try #require(JSContext())
        let machine = try #require(context.virtualMachine)
        for _ in 0..<200 {
            let owner = Owner()
            context.setObject(owner, forKeyedSubscript: "it")
            let callback: JSValue = context.evaluateScript("(function () { var me = it; return () => me })()")
            owner.callback = JSManagedValue(value: callback, andOwner: owner)
            context.evaluateScript("it = null")
        }
        churn(context, machine)
        let left = Owner.living.load(ordering: .relaxed) - before
        // The collector looks at the stack conservatively, so a few may be found there.
        #expect(left < 20, "\(left) of 200 are left")
    }

    @Test func whatJavaScriptDropsSwiftDrops() throws {
        let before = Owner.living.load(ordering: .relaxed)
        let context = try #require(JSContext())
        let machine = try #require(context.virtualMachine)
        context["Owner"] = context.constructor(of: Owner.self)
        context.evaluateScript("for (let i = 0; i < 500; i++) new Owner()")
        churn(context, machine)
        #expect(Owner.living.load(ordering: .relaxed) - before < 20)
    }

    @Test(.measured) func memoryStaysFlatOverManyContexts() throws {
        let machine = JSVirtualMachine()
        func once() throws {
            let context = try #require(JSContext(virtualMachine: machine))
            let bytes = [UInt8](repeating: 7, count: 20_000)
            context["f"] = JSValue(newFunctionIn: context) { (x: Int) in x + bytes.count }
            context.setObject(Owner(), forKeyedSubscript: "owner")
            context.setObject(["a": [1, 2, 3], "b": "text"], forKeyedSubscript: "value")
            #expect(context.evaluateScript("var keep = [value, f, owner]; f(1)").toInt32() == 20_001)
        }
        for _ in 0..<500 { try once() }
        machine?.collectGarbage()
        let before = residentBytes()
        for number in 0..<10_000 {
            try once()
            if number % 500 == 0 { machine?.collectGarbage() }
        }
        machine?.collectGarbage()
        let growth = residentBytes() - before
        #expect(growth < 60 << 20, "grew by \(growth >> 20) MiB")
        #expect(Owner.living.load(ordering: .relaxed) < 700)
    }

    @Test func machinesThatAreDroppedLeaveNothing() throws {
        func once() throws {
            let context = try #require(JSContext())
            context["f"] = JSValue(newFunctionIn: context) { (x: Int) in x + 1 }
            context.setObject(Owner(), forKeyedSubscript: "owner")
            #expect(context.evaluateScript("f(1)").toInt32() == 2)
        }
        let living = Owner.living.load(ordering: .relaxed)
        for _ in 0..<20 { try once() }
        let before = residentBytes()
        for _ in 0..<200 { try once() }
        let growth = residentBytes() - before
        #expect(growth < 40 << 20, "grew by \(growth >> 20) MiB")
        #expect(Owner.living.load(ordering: .relaxed) - living < 20)
    }

    @Test func callsIntoOneMachineWaitForEachOther() async throws {
        let context = try #require(JSContext())
        context.evaluateScript("var n = 0; function up() { let was = n; for (let i = 0; i < 50; i++); n = was + 1 }")
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<500 { context["up"].call(withArguments: []) } }
            }
        }
        #expect(context["n"].toInt32() == 4000)
    }

    @Test func severalMachinesRunAtTheSameTime() async throws {
        let results = try await withThrowingTaskGroup { group in
            for number in 0..<4 {
                group.addTask {
                    let context = try #require(JSContext())
                    return context.evaluateScript("var s = 0; for (let i = 0; i < 100000; i++) s += \(number); s")
                        .toDouble()
                }
            }
            return try await group.reduce(into: Set<Double>()) { $0.insert($1) }
        }
        #expect(results == [0, 100_000, 200_000, 300_000])
    }

    /// Lets the collector see that what was on the stack is gone.
    private func churn(_ context: JSContext, _ machine: JSVirtualMachine) {
        context.evaluateScript("(function f(n) { var o = {n: n}; return n ? f(n - 1) + o.n : 0 })(200); 0")
        for _ in 0..<3 { machine.collectGarbage() }
    }

    private func residentBytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (Int(text.split(separator: " ").dropFirst().first ?? "0") ?? 0) * 4096
    }
}
