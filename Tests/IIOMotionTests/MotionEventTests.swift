import Concurrency
import Foundation
import JSON
import Linux
import QuickConnect
import Synchronization
import TestRig
import Testing

@testable import IIOMotion

/// A sensor that gives values at the rate it is opened with.
private final class FakeSensor: MotionSource {
    struct State {
        var rates: [Double] = []
        var isOpen = false
        var failure: CommandError?
        /// A driver hangs until it is opened.
        var hang: Gate?
    }

    let description = "the fake sensor"
    let state = Mutex(State())

    var isOpen: Bool { state.withLock { $0.isOpen } }
    var rates: [Double] { state.withLock { $0.rates } }

    func fail(_ code: CommandError.Code?) {
        state.withLock { $0.failure = code.map { CommandError($0, "no sensor") } }
    }

    func check() throws(CommandError) {
        if let failure = state.withLock({ $0.failure }), failure.code == .unsupported { throw failure }
    }

    func open(rate: Double) throws(CommandError) -> any MotionStream {
        let (failure, hang) = state.withLock { ($0.failure, $0.hang) }
        hang?.pass()
        if let failure { throw failure }
        state.withLock { ($0.rates, $0.isOpen) = ($0.rates + [rate], true) }
        return Stream(self, rate)
    }

    func examine(_ goesOn: () -> Void) -> Finding { Finding("motion", .ok, "fake") }

    private final class Stream: MotionStream {
        let description = "fake"
        let rate: Double
        private let sensor: FakeSensor
        private var due = ContinuousClock.now

        init(_ sensor: FakeSensor, _ rate: Double) { (self.sensor, self.rate) = (sensor, rate) }

        deinit { sensor.state.withLock { $0.isOpen = false } }

        func next(_ waker: Waker, until end: ContinuousClock.Instant) throws(CommandError) -> Acceleration? {
            if ContinuousClock.now < due { _ = waker.sleep(until: min(due, end)) }
            if let failure = sensor.state.withLock({ $0.failure }) { throw failure }
            guard ContinuousClock.now >= due else { return nil }
            due += .seconds(1 / rate)
            return Acceleration(x: 0, y: 0, z: 1)
        }
    }
}

/// A subscriber, which counts the events it gets, and keeps the last one.
private final class Subscriber: ConnectionOutput {
    let count = Mutex(0)
    private let last = Mutex<Event?>(nil)
    var hasTime: Bool { last.withLock { $0?.message.value.objectValue?["timestamp"] } != nil }

    func send(_ event: Event, form: WireForm) {
        last.withLock { $0 = event }
        count.withLock { $0 += 1 }
    }
    func write(_ line: (OutputBuffer) -> Void) {}
    func finish() {}
}

@Suite(.serialized) struct MotionEventTests {
    private let fake = FakeSensor()
    private let sensor: IIOMotionSensor
    private let router: Router

    init() {
        sensor = IIOMotionSensor(fake, deadline: .milliseconds(400), logger: quiet)
        router = Self.router(with: sensor.event)
    }

    private static func router(with event: AccelerationEvent) -> Router {
        let (handlers, permissions) = (HandlerRegistry.none, Permissions(ownUID: 0))
        let controller = FrontController(
            table: MappingTable(),
            handlers: handlers,
            permissions: permissions,
            waitingCalls: WaitingCalls(clock: AlarmThread.shared)
        )
        let router = Router(controller, handlers, EventHub(limits: Limits()))
        router.events.add(event)
        return router
    }

    private func subscribe(_ options: JSONObject = [:]) throws -> (Subscriber, Connection) {
        let subscriber = Subscriber()
        let connection = Connection(caller: .daemon, router, output: subscriber)
        try router.events.subscribe(connection, to: ["accel"], options: options, form: .url)
        return (subscriber, connection)
    }

    @Test func `the sensor runs exactly while somebody subscribes`() async throws {
        let (subscriber, connection) = try subscribe()
        let (second, other) = try subscribe()
        try await eventually("events come") { subscriber.count.withLock { $0 } >= 3 }
        router.events.unsubscribeAll(connection)
        let count = second.count.withLock { $0 }
        try await eventually("more events come") { second.count.withLock { $0 } >= count + 3 }
        #expect(fake.isOpen)
        router.events.unsubscribe(other, from: ["accel"])
        try await eventually("it sleeps") { !fake.isOpen }
        #expect(fake.rates == [10])
        _ = try subscribe()
        try await eventually("it runs again") { fake.isOpen }
        await sensor.close()
        #expect(!fake.isOpen)
    }

    @Test(.measured) func `nothing runs while nobody subscribes`() async throws {
        let (subscriber, connection) = try subscribe()
        try await eventually("events come") { subscriber.count.withLock { $0 } >= 3 }
        router.events.unsubscribeAll(connection)
        try await eventually("it sleeps") { !fake.isOpen }
        // Sleeps until the thread does.
        try await Task.sleep(for: .milliseconds(100))
        let threads = ThreadList(named: "qc-motion")
        let before = threads.switches
        // Sleeps while it should.
        try await Task.sleep(for: .seconds(2))
        #expect(threads.count > 0 && threads.switches == before)
        await sensor.close()
    }

    @Test func `it runs at the fastest rate that is asked for`() async throws {
        _ = try subscribe(["rate": 5])
        try await eventually("it runs") { fake.rates == [5] }
        let (_, connection) = try subscribe(["rate": 100])
        try await eventually("it is faster") { fake.rates == [5, 100] }
        router.events.unsubscribeAll(connection)
        try await eventually("it is slower") { fake.rates == [5, 100, 5] }
        await sensor.close()
    }

    @Test func `who waits for one value does not wait for the next of a slow subscriber`() async throws {
        let (subscriber, _) = try subscribe(["rate": 0.1])
        try await eventually("the first one has come") { subscriber.count.withLock { $0 } == 1 }
        _ = try await sensor.acceleration(for: .daemon)
        try await eventually("it is slow again") { fake.rates == [0.1, 10, 0.1] }
        await sensor.close()
    }

    /// ``PaceTests`` has the same without a clock.
    @Test(.measured) func `each gets as many events as it asked for`() async throws {
        let (slow, _) = try subscribe(["rate": 5])
        let (fast, _) = try subscribe(["rate": 100])
        try await eventually("it is faster") { fake.rates.last == 100 }
        let before = (slow.count.withLock { $0 }, fast.count.withLock { $0 })
        // Sleeps while events are counted.
        try await Task.sleep(for: .seconds(2))
        let after = (slow.count.withLock { $0 }, fast.count.withLock { $0 })
        #expect((8...12).contains(after.0 - before.0))
        #expect((120...220).contains(after.1 - before.1))
        await sensor.close()
    }

    @Test func `a subscription that is made again has its new rate`() async throws {
        let (_, connection) = try subscribe(["rate": 2])
        try await eventually("it runs") { fake.rates == [2] }
        try router.events.subscribe(connection, to: ["accel"], options: ["rate": 50], form: .url)
        try await eventually("it is faster") { fake.rates == [2, 50] }
        await sensor.close()
    }

    /// The udev rule that gives the buffer to the daemon may come after the sensor, also on a busy machine.
    @Test func `values have their times as soon as the buffer may be used`() async throws {
        let tree = try DeviceTree()
        try tree.add("iio:device0", Driver.accel3D.merging(["trigger/current_trigger": ""]) { $1 })
        mkfifo(tree.folder("dev/iio:device0"), 0o600)
        let pipe = open(tree.folder("dev/iio:device0"), O_RDWR | O_NONBLOCK)
        defer { close(pipe) }
        let sensor = IIOMotionSensor(tree.source(), logger: quiet)
        let router = Self.router(with: sensor.event)
        let subscriber = Subscriber()
        let connection = Connection(caller: .daemon, router, output: subscriber)
        try router.events.subscribe(connection, to: ["accel"], options: ["rate": 50], form: .url)
        try await eventually("it is polled") { subscriber.count.withLock { $0 } > 0 }
        #expect(!subscriber.hasTime)
        try tree.add("trigger0", ["name": "accel_3d-dev0"])
        try await eventually("its buffer is read") {
            _ = write(pipe, [UInt8](repeating: 1, count: 24), 24)
            return subscriber.hasTime
        }
        router.events.unsubscribeAll(connection)
        try await eventually("it is off") { try tree.text("iio:device0", "buffer/enable") == "0" }
        await sensor.close()
    }

    @Test(
        arguments: [
            ["rate": "x"], ["rate": 0], ["rate": 0.05], ["rate": 201], ["rate": -1], ["rate": []], ["speed": 1],
            ["rate": 10, "x": 1],
        ] as [JSONObject]
    )
    func `wrong options are invalid`(options: JSONObject) {
        do {
            _ = try subscribe(options)
            Issue.record("subscribed")
        } catch {
            #expect((error as? CommandError)?.code == .invalid)
        }
        #expect(fake.rates == [])
    }

    @Test func `the command waits for one value, and the sensor sleeps again`() async throws {
        let value = try await sensor.acceleration(for: .daemon)
        #expect(value.json == ["x": 0.0, "y": 0.0, "z": 1.0])
        try await eventually("it sleeps") { !fake.isOpen }
        #expect(sensor.state() == ["measuring": []])
    }

    @Test func `a sensor that is missing is unsupported, to the command and to a subscriber`() async throws {
        fake.fail(.unsupported)
        #expect(throws: CommandError.self) { try subscribe() }
        do throws(CommandError) { _ = try await sensor.acceleration(for: .daemon) } catch {
            #expect(error.code == .unsupported)
        }
    }

    @Test func `a sensor that goes away is found again when it comes back`() async throws {
        let (subscriber, _) = try subscribe(["rate": 100])
        try await eventually("events come") { subscriber.count.withLock { $0 } > 3 }
        fake.fail(.unsupported)
        try await eventually("it is gone") { !fake.isOpen }
        do throws(CommandError) {
            _ = try await sensor.acceleration(for: .daemon)
            Issue.record("there is a value")
        } catch {
            // It was there: not never, but not now.
            #expect(error.code == .unavailable)
        }
        let count = subscriber.count.withLock { $0 }
        fake.fail(nil)
        try await eventually("events come again") { subscriber.count.withLock { $0 } > count + 3 }
        await sensor.close()
    }

    @Test func `a driver that hangs costs a caller the deadline, and works again when it comes back`() async throws {
        let hang = Gate()
        fake.state.withLock { $0.hang = hang }
        let (subscriber, _) = try subscribe(["rate": 100])
        do throws(CommandError) { _ = try await sensor.acceleration(for: .daemon) } catch {
            #expect(error.code == .timeout)
        }
        #expect(await sensor.examine().state == .ok)
        fake.state.withLock { $0.hang = nil }
        hang.open()
        try await eventually("events come") { subscriber.count.withLock { $0 } > 3 }
        await sensor.close()
    }

    @Test func `the daemon's end ends the wait`() async throws {
        let hang = Gate()
        fake.state.withLock { $0.hang = hang }
        let waiting = Task { try await sensor.acceleration(for: .daemon) }
        try await eventually("it waits") { sensor.state() != ["measuring": []] }
        await sensor.close()
        await #expect(throws: CommandError.self) { try await waiting.value }
        hang.open()
    }
}

@Suite struct MotionTrackTests {
    @Test func `a moment between two is on the straight line, and the end is followed by the beginning`() throws {
        let track = try MotionTrack(
            "# a comment\n{\"time\":10,\"x\":0,\"y\":0,\"z\":1}\n{\"time\":12,\"x\":1,\"y\":-1,\"z\":0}\n"
        )
        #expect(track.duration == 2)
        #expect(track.value(at: 0) == [0, 0, 1] && track.value(at: 1) == [0.5, -0.5, 0.5])
        #expect(track.value(at: 2.5) == track.value(at: 0.5))
    }

    @Test(arguments: [
        ("", "no motion in it"), (#"{"time":1,"x":0,"y":0,"z":1}"#, "no motion in it"), ("{}", "no moment in line 1"),
        ("# a comment\n\n{not json", "no moment in line 3"),
        (#"{"time":1,"x":"a","y":0,"z":1}"#, "no moment in line 1"), (#"{"time":1,"x":0,"y":0,"z":1e308}"#, "line 1"),
        (
            "{\"time\":1,\"x\":0,\"y\":0,\"z\":1}\n{\"time\":1,\"x\":0,\"y\":0,\"z\":1}",
            "a time in line 2 that is not later"
        ),
    ])
    func `anything else is none, and its line is named`(text: String, problem: String) {
        let error = #expect(throws: FileText.Problem.self) { try MotionTrack(text) }
        #expect(error?.message.contains(problem) == true, "\(error?.message ?? "")")
    }

    @Test func `the shipped one is a track`() async throws {
        let path =
            URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path + "/tracks/in-the-hand.json"
        let sensor = IIOMotionSensor(
            simulated: IIOMotionSensor.tilt(track: path),
            matrix: Matrix([[1, 0, 0], [0, 1, 0], [0, 0, -1]]),
            logger: quiet
        )
        let value = try await sensor.acceleration(for: .daemon)
        #expect(abs(value.z + 1) < 0.02 && value.time?.clock == "realtime")
        try await eventually("it is left alone") { await sensor.examine().says.contains("lasts 30 s") }
        await sensor.close()
    }
}
