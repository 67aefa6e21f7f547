import JSON
import QuickConnect
import Testing

@testable import Pins

@Suite struct OutputPlanTests {
    private let lamp = declaration(.boolean, GPIOBinding(.named("GPIO27"), isOutput: true), initial: false)

    private func plan(_ value: JSONValue, for time: JSONValue? = nil) throws -> OutputPlan {
        try OutputPlan(value, for: time, of: lamp)
    }

    @Test func `a value stays, and one for a time returns to the default`() throws {
        #expect(try plan(true).later.isEmpty)
        let plan = try plan(true, for: "1500ms")
        #expect(plan.first == true)
        #expect(plan.later == [.init(after: .milliseconds(1500), value: false)])
        #expect(try self.plan(true, for: .null).later.isEmpty)
    }

    @Test func `a pattern begins with on, and ends at the default`() throws {
        let plan = try plan([200, 100, 200])
        #expect(plan.first == true)
        #expect(plan.later.map(\.value) == [false, true, false])
        #expect(plan.later.map(\.after) == [.milliseconds(200), .milliseconds(100), .milliseconds(200)])
        #expect(plan.isPattern)
        #expect(try self.plan([50]).later.map(\.value) == [false])
    }

    @Test(
        arguments: [
            ([], nil), ([0], nil), ([10_001], nil), ([1.5], nil), (["a"], nil), ([[1]], nil), (7, nil), ("on", nil),
            ([:], nil),
            (true, "2h"), (true, "0s"), (true, 5), (true, "soon"), ([200], "5s"),
        ] as [(JSONValue, JSONValue?)]
    )
    func `what does not fit is invalid, and says what would be right`(value: JSONValue, time: JSONValue?) throws {
        #expect { try plan(value, for: time) } throws: { error in
            let error = error as? CommandError
            return error?.code == .invalid && error?.message.isEmpty == false
        }
    }

    @Test func `what does not fit in a pattern is told with its place`() {
        func message(_ pattern: JSONValue) -> String? {
            do throws(CommandError) {
                _ = try OutputPlan(pattern, for: nil, of: lamp)
                return nil
            } catch { return error.message }
        }
        let wanted = "expected whole milliseconds from 1 to 10000; got"
        #expect(message([200, 10_001, 0]) == "/0/1: \(wanted) the number 10001")
        #expect(message([200, 1, "a"]) == "/0/2: \(wanted) the string \"a\"")
        #expect(message([]) == "/0: expected a pattern of 1 to 99 times in ms, the first of them on; got 0 times")
    }

    @Test func `a pattern of 99 entries is the longest`() throws {
        #expect(try plan(.array(Array(repeating: 1, count: 99))).later.count == 99)
        #expect(throws: CommandError.self) { try plan(.array(Array(repeating: 1, count: 100))) }
    }

    @Test func `a light that is on or off takes patterns, and one with a level takes none`() throws {
        let (light, level) = (declaration(.boolean, led: "led0", initial: false), declaration(.number, led: "led0"))
        #expect(try OutputPlan([200, 100], for: nil, of: light).later.map(\.value) == [false, false])
        #expect(throws: CommandError.self) { try OutputPlan([200], for: nil, of: level) }
    }
}

extension GPIOBinding {
    init(_ line: Line, isOutput: Bool) {
        self.init(line)
        self.isOutput = isOutput
    }
}

func declaration(
    _ kind: Parameter.Kind,
    _ gpio: GPIOBinding? = nil,
    led: String? = nil,
    initial: JSONValue = 0
) -> ValueDeclaration {
    var value = ValueDeclaration(Parameter("value", kind), initial: initial)
    value.binding = gpio.map { .gpio($0) } ?? led.map { .led($0) }
    return value
}
