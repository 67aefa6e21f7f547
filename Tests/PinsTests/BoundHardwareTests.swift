import Concurrency
import JSON
import Logging
import QuickConnect
import Synchronization
import TestRig
import Testing

@testable import Pins

/// Outputs that write down what they are set to.
private final class RecordedPins: BoundPins {
    let written = Mutex<[String: [Double]]>([:])
    let closed = Mutex<[String]>([])
    let lack = Mutex<CommandError?>(nil)
    /// What a sensor says, one after the other; nil: it fails.
    let readings = Mutex<[Double?]>([])

    func openOutput(_ name: String, _: ValueDeclaration, value: Double) throws(CommandError) -> any OutputPin {
        if let lack = lack.withLock({ $0 }) { throw lack }
        let pin = RecordedPin(name, self)
        try pin.write(value)
        return pin
    }

    func openInput(_: String, _: GPIOBinding) throws(CommandError) -> any InputPin {
        throw CommandError(.busy, "the GPIO line is used by a test")
    }

    func openSensor(_: String, _: SensorBinding) -> any SensorInput { RecordedSensor(pins: self) }

    func values(_ name: String) -> [Double] { written.withLock { $0[name] ?? [] } }
}

private struct RecordedSensor: SensorInput {
    let pins: RecordedPins

    func read() throws(CommandError) -> Double {
        let reading = pins.readings.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        guard let reading else { throw CommandError(.unavailable, "none") }
        return reading
    }
}

private final class RecordedPin: OutputPin {
    let name: String
    let pins: RecordedPins

    init(_ name: String, _ pins: RecordedPins) { (self.name, self.pins) = (name, pins) }

    func write(_ value: Double) throws(CommandError) {
        if let lack = pins.lack.withLock({ $0 }) { throw lack }
        pins.written.withLock { $0[name, default: []].append(value) }
    }

    func close() { pins.closed.withLock { $0.append(name) } }
}

@Suite struct BoundOutputTests {
    private let pins = RecordedPins()
    private var lamp: ValueDeclaration {
        declaration(.boolean, GPIOBinding(.named("GPIO27"), isOutput: true), initial: false)
    }

    private final class Somebody: CallConnection {
        let caller = Caller.daemon
        let socketRule: SocketRule? = nil
        let process: CallingProcess? = nil
        let (isClosed, answers) = (false, false)
        let told = Mutex<[Bool]>([])

        func whenClosed(_: @escaping @Sendable () -> Void) {}
        func interruptCalls(id: String?, with _: CommandError) {}
        func act(for _: String, groups _: Set<String>, hearsLeases _: Bool) throws(CommandError) {}
        func lease(begins: Bool) { told.withLock { $0.append(begins) } }
        func report(_: CommandError, of _: String, form _: WireForm) {}
        func send(_: Event, form _: WireForm) {}
        func callHandler(_: String, _: borrowing Call, in _: Phase, for _: any AnswerReceiver) -> Int { 0 }
        func forgetAnswer(_: Int) {}
    }

    private func leased() -> ValueDeclaration {
        var lamp = lamp
        lamp.hasLease = true
        return lamp
    }

    /// Does all that is due until nothing more is, as if the time had come.
    private func finish(_ output: BoundOutput) -> [JSONValue] {
        var told: [JSONValue] = []
        while let due = output.due {
            if let value = output.proceed(due)?.value { told.append(value) }
        }
        return told
    }

    @Test func `it begins with its value, and ends with its default`() throws {
        let output = BoundOutput("lamp", lamp, pins, value: true)
        #expect(pins.values("lamp") == [1])
        output.close()
        #expect(pins.values("lamp") == [1, 0])
        #expect(pins.closed.withLock { $0 } == ["lamp"])
    }

    @Test func `a pattern is written step by step, and two of them are told`() throws {
        let output = BoundOutput("lamp", lamp, pins, value: false)
        try output.begin(OutputPlan([200, 100, 200], for: nil, of: lamp), of: nil)
        #expect(output.proceed(.now) == nil)
        #expect(finish(output) == [false])
        #expect(pins.values("lamp") == [0, 1, 0, 1, 0])
    }

    @Test func `a new set takes the place of a time`() throws {
        let output = BoundOutput("lamp", lamp, pins, value: false)
        try output.begin(OutputPlan(true, for: "5s", of: lamp), of: nil)
        try output.begin(OutputPlan(true, for: nil, of: lamp), of: nil)
        #expect(output.due == nil)
        #expect(pins.values("lamp") == [0, 1, 1])
    }

    @Test func `a lease has a holder, but a set for a time has none`() throws {
        let (lamp, connection) = (leased(), Somebody())
        let output = BoundOutput("lamp", lamp, pins, value: false)
        try output.begin(OutputPlan(true, for: nil, of: lamp), of: connection)
        #expect(output.lease?.holder == ObjectIdentifier(connection))
        try output.begin(OutputPlan(true, for: "500ms", of: lamp), of: connection)
        #expect(output.lease == nil)
        let other = BoundOutput("other", self.lamp, pins, value: false)
        try other.begin(OutputPlan(true, for: nil, of: self.lamp), of: connection)
        #expect(other.lease == nil)
    }

    @Test func `a connection is told of each lease, and of its end`() throws {
        let (lamp, one, two) = (leased(), Somebody(), Somebody())
        let output = BoundOutput("lamp", lamp, pins, value: false)
        func set(_ value: JSONValue, of connection: Somebody) throws {
            try output.begin(OutputPlan(value, for: nil, of: lamp), of: connection)
        }
        try set(true, of: one)
        try set(true, of: two)
        #expect(one.told.withLock { $0 } == [true, false])
        // A default needs nobody.
        try set(false, of: one)
        #expect(one.told.withLock { $0 } == [true, false])
        #expect(two.told.withLock { $0 } == [true, false])
        try set([200], of: one)
        _ = finish(output)
        #expect(one.told.withLock { $0 } == [true, false, true, false])
    }

    @Test func `what has gone says so, and is found again`() throws {
        let output = BoundOutput("lamp", lamp, pins, value: false)
        pins.lack.withLock { $0 = CommandError(.unavailable, "gone") }
        let plan = try OutputPlan(true, for: nil, of: lamp)
        #expect(throws: CommandError.self) { try output.begin(plan, of: nil) }
        #expect(output.lack?.message == "gone")
        pins.lack.withLock { $0 = nil }
        output.retry(true)
        #expect(output.lack == nil)
        #expect(pins.values("lamp") == [0, 1])
    }

    @Test func `an output that nobody found yet is not moved at the end`() {
        pins.lack.withLock { $0 = CommandError(.unavailable, "gone") }
        let output = BoundOutput("lamp", lamp, pins, value: true)
        pins.lack.withLock { $0 = nil }
        output.close()
        #expect(pins.values("lamp").isEmpty)
    }
}

@Suite struct BoundHardwareTests {
    private let pins = RecordedPins()
    private let events = EventHub(limits: Limits())

    private struct NoAccounts: Accounts {
        func uid(ofUser _: String) -> UInt32? { nil }
        func gid(ofGroup _: String) -> UInt32? { nil }
    }

    private func table(_ values: [String: ValueDeclaration]) throws -> MappingTable {
        var builder = MappingTableBuilder()
        for (name, value) in values {
            var entry = MappingDeclaration(Located(name, at: SourceLocation(file: "a", line: 1, column: 1)))
            entry.value = value
            builder.add(entry)
        }
        let store = ValueStore(events)
        return try builder.build(
            catalog: [:],
            scripts: { _ in ValueCommandObject("", store) },
            declared: { name, _ in ValueCommandObject(name, store) },
            accounts: NoAccounts()
        ).table
    }

    private func lamp(_ line: String, initial: JSONValue = false) -> ValueDeclaration {
        declaration(.boolean, GPIOBinding(.named(line), isOutput: true), initial: initial)
    }

    @Test func `a reload moves nothing that is declared as before`() async throws {
        let store = ValueStore(events)
        let hardware = BoundHardware(pins, store, events, logger: Logger(label: "test"))
        let first = try table([
            "stays": lamp("1"), "changes": lamp("2", initial: true), "goes": lamp("3", initial: true),
        ])
        _ = store.adopt(first)
        hardware.adopt(first)
        try await eventually("all are there") { pins.values("goes") == [1] && pins.values("stays") == [0] }
        let second = try table(["stays": lamp("1"), "changes": lamp("4"), "comes": lamp("5")])
        _ = store.adopt(second)
        hardware.adopt(second)
        try await eventually("the new one is there") {
            pins.values("comes") == [0] && pins.values("changes").count == 3
        }
        #expect(pins.values("stays") == [0])
        // Its default of before, and then what it is now.
        #expect(pins.values("changes") == [1, 1, 0])
        #expect(pins.values("goes") == [1, 1])
        #expect(Set(pins.closed.withLock { $0 }) == ["changes", "goes"])
        await hardware.close()
        #expect(Set(pins.closed.withLock { $0 }) == ["changes", "goes", "stays", "comes"])
    }

    @Test func `what is busy is told by the doctor`() async throws {
        let store = ValueStore(events)
        let hardware = BoundHardware(pins, store, events, logger: Logger(label: "test"))
        let table = try table(["bell": declaration(.boolean, GPIOBinding(.named("1"), isOutput: false))])
        _ = store.adopt(table)
        hardware.adopt(table)
        let findings = await HardwareDoctor(hardware: hardware, startsAtBoot: { true }).examine(thoroughly: false)
        #expect(findings.map(\.subject) == ["hardware"])
        #expect(findings.first?.state == .error && findings.first?.says == "'bell': the GPIO line is used by a test")
        await hardware.close()
    }

    @Test func `what a sensor has said stands in for one failed read, not for two`() async throws {
        let store = ValueStore(events)
        let hardware = BoundHardware(pins, store, events, logger: Logger(label: "test"))
        var warmth = declaration(.number)
        warmth.binding = .sensor(SensorBinding(chip: "dht11", input: "temp"))
        let table = try table(["warmth": warmth])
        _ = store.adopt(table)
        hardware.adopt(table)
        func read() async throws -> Double? {
            try await hardware.read("warmth").value(before: .now + .seconds(30)).numberValue
        }
        pins.readings.withLock { $0 = [20.5, nil, 21, nil, nil, 22] }
        for expected in [20.5, 20.5, 21, 21] { #expect(try await read() == expected) }
        await #expect(throws: CommandError.self) { try await read() }
        #expect(await hardware.lacks()["warmth"]?.message == "none")
        #expect(try await read() == 22)
        #expect(await hardware.lacks().isEmpty)
        await hardware.close()
    }

    @Test func `the outputs of a table return to their defaults without a daemon`() throws {
        let values = [(name: "one", value: lamp("1")), (name: "two", value: lamp("2", initial: true))]
        #expect(BoundHardware.release(values, pins).isEmpty)
        #expect(pins.values("one") == [0, 0])
        #expect(pins.values("two") == [1, 1])
        pins.lack.withLock { $0 = CommandError(.busy, "taken") }
        #expect(BoundHardware.release(values, pins).count == 2)
        pins.lack.withLock { $0 = CommandError(.unavailable, "gone", details: ["inspect": "x"]) }
        #expect(BoundHardware.release(values, pins).isEmpty)
    }

    @Test func `two values are not bound to the same line`() throws {
        #expect(throws: ConfigurationMistakes.self) { try table(["a": lamp("1"), "b": lamp("1")]).checkBindings() }
        try table(["a": lamp("1"), "b": lamp("2")]).checkBindings()
    }
}
