import Concurrency
import Foundation
import JSON
import Linux
import Logging
import QuickConnect
import Synchronization
import TestRig
import Testing

@testable import GPSDLocation

/// A source whose reports a test gives.
final class ScriptedSource: ReportSource {
    let name = "test"
    let description = "the script"
    private let reports: Mutex<[Report]>
    /// A byte for each report.
    private let arrivals: [Int32]
    let openings = Mutex(0)
    let isOpen = Mutex(false)

    init() {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        arrivals = ends
        reports = Mutex([])
    }

    deinit { for descriptor in arrivals { close(descriptor) } }

    func say(_ report: Report) {
        reports.withLock { $0.append(report) }
        write(arrivals[1], "r", 1)
    }

    func open() throws(PlainError) -> any ReportStream {
        openings.withLock { $0 += 1 }
        isOpen.withLock { $0 = true }
        return Stream(self)
    }

    private final class Stream: ReportStream {
        let source: ScriptedSource

        init(_ source: ScriptedSource) { self.source = source }

        deinit { source.isOpen.withLock { $0 = false } }

        func next(_ waker: Waker, until end: ContinuousClock.Instant?) throws(PlainError) -> Report? {
            guard waker.sleep(watching: source.arrivals[0], until: end) else { return nil }
            var byte: UInt8 = 0
            read(source.arrivals[0], &byte, 1)
            return source.reports.withLock { $0.removeFirst() }
        }
    }
}

/// A subscriber, which keeps the events it gets.
final class Subscriber: ConnectionOutput {
    let values = Mutex<[JSONObject]>([])

    func send(_ event: Event, form: WireForm) {
        guard let value = event.message.value.objectValue else { return }
        values.withLock { $0.append(value) }
    }

    func write(_ line: (OutputBuffer) -> Void) {}
    func finish() {}

    var latitudes: [Double?] { values.withLock { $0.map { $0["latitude"]?.numberValue } } }
}

/// A router without commands, whose events can be subscribed to.
func eventRouter(_ source: any EventSource) -> Router {
    let (handlers, permissions) = (HandlerRegistry.none, Permissions(ownUID: 0))
    let controller = FrontController(
        table: MappingTable(),
        handlers: handlers,
        permissions: permissions,
        waitingCalls: WaitingCalls(clock: AlarmThread.shared)
    )
    let router = Router(controller, handlers, EventHub(limits: Limits()))
    router.events.add(source)
    return router
}

/// What subscribers of the event get.
@Suite(.serialized) struct LocationEventTests {
    private let source = ScriptedSource()
    private let provider: GPSDLocationProvider
    private let router: Router

    init() {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        provider = GPSDLocationProvider(source, answer: .seconds(5), logger: logger)
        router = eventRouter(provider.event)
    }

    private func subscribe(_ options: JSONObject = [:]) throws -> (Subscriber, Connection) {
        let subscriber = Subscriber()
        let session = Connection(caller: .daemon, router, output: subscriber)
        try router.events.subscribe(session, to: ["location"], options: options, form: .url)
        return (subscriber, session)
    }

    private func fix(_ latitude: Double, age: Double = 0, altitude: Double = 10) -> Report {
        let time = age == .infinity ? 0 : WallClock.now - age
        return .fix(RawFix(mode: 3, time: time, latitude: latitude, longitude: 20, altitude: altitude))
    }

    @Test func `each change comes once, numbered, with the position before`() async throws {
        let (subscriber, _) = try subscribe()
        for latitude in [1.0, 1, 1, 2, 2, 3] { source.say(fix(latitude)) }
        source.say(fix(3, altitude: 11))
        try await eventually("they come") { subscriber.latitudes.count == 4 }
        let values = subscriber.values.withLock { $0 }
        #expect(values.map { $0["latitude"] } == [1.0, 2.0, 3.0, 3.0])
        #expect(values.map { $0["sequence"] } == [1, 2, 3, 4])
        #expect(values[0]["previous"] == .null)
        #expect(values.dropFirst().map { $0["previous"]?.objectValue?["latitude"] } == [1.0, 2.0, 3.0])
        #expect(values[3]["altitude"] == 11.0 && values[3]["source"] == "test")
        await provider.close()
    }

    @Test func `an old position goes to those who do not mind`() async throws {
        let (fresh, _) = try subscribe()
        let (any, _) = try subscribe(["maximumAge": .null])
        let (minute, _) = try subscribe(["maximumAge": 60_000])
        for report in [fix(1, age: 30), fix(2, age: .infinity), fix(3, age: 3600), fix(4)] { source.say(report) }
        try await eventually("they come") { any.latitudes.count == 4 && fresh.latitudes.count == 1 }
        #expect(fresh.latitudes == [4] && minute.latitudes == [1, 4] && any.latitudes == [1, 2, 3, 4])
        await provider.close()
    }

    @Test func `a newcomer is told where the device is, and nobody the same twice`() async throws {
        let (first, session) = try subscribe()
        source.say(fix(1))
        try await eventually("the first one is told") { first.latitudes == [1] }
        let (second, _) = try subscribe()
        #expect(second.latitudes.isEmpty, "not before the answer to its subscription")
        source.say(fix(1))
        try await eventually("the second one is told") { second.latitudes == [1] }
        #expect(first.latitudes == [1] && second.values.withLock { $0.first?["sequence"] } == 1)
        try router.events.subscribe(session, to: ["location"], options: [:], form: .url)
        source.say(fix(1))
        try await eventually("who subscribes anew is a newcomer") { first.latitudes == [1, 1] }
        for latitude in [1.0, 2] { source.say(fix(latitude)) }
        try await eventually("both are told") { first.latitudes.last == 2 && second.latitudes.last == 2 }
        #expect(first.latitudes == [1, 1, 2] && second.latitudes == [1, 2])
        await provider.close()
    }

    @Test func `an old position hides no new one of the same place`() async throws {
        let (fresh, _) = try subscribe()
        let (any, _) = try subscribe(["maximumAge": .null])
        for report in [fix(1, age: 60), fix(1, age: 59), fix(1), fix(1), fix(2, age: 60), fix(2)] { source.say(report) }
        try await eventually("they come") { fresh.latitudes == [1, 2] && any.latitudes == [1, 2] }
        await provider.close()
    }

    @Test func `an accuracy twice as good is a change, and small steps add up to one`() async throws {
        let (subscriber, _) = try subscribe()
        for accuracy in [500, 300, 260, 250, 3, 3.5, 2.9, 6.1, .nan, 0, 0] {
            source.say(
                .fix(
                    RawFix(mode: 2, time: WallClock.now, latitude: 1, longitude: 2, horizontalError: accuracy)
                )
            )
        }
        try await eventually("they come") { subscriber.latitudes.count == 6 }
        let told = subscriber.values.withLock { $0.map { $0["accuracy"] ?? .null } }
        #expect(told == [500.0, 250.0, 3.0, 6.1, .null, 0.0], "\(told)")
        await provider.close()
    }

    @Test func `an age of 0 means new positions, as in the W3C's API`() async throws {
        let (new, _) = try subscribe(["maximumAge": 0])
        for report in [fix(1, age: 30), fix(2)] { source.say(report) }
        try await eventually("the new one comes") { new.latitudes == [2] }
        await provider.close()
    }

    @Test func `gpsd is watched exactly while somebody subscribes or waits`() async throws {
        #expect(source.openings.withLock { $0 } == 0)
        let (_, session) = try subscribe()
        let (_, other) = try subscribe()
        try await eventually("it is watched") { source.isOpen.withLock { $0 } }
        router.events.unsubscribeAll(session)
        async let waiting = provider.position(.init(timeout: 5), for: .daemon)
        try await eventually("it is waited for") { provider.state()["locating"] != [] }
        source.say(fix(1))
        let position = try await waiting
        #expect(position.latitude == 1 && source.openings.withLock { $0 } == 1)
        router.events.unsubscribeAll(other)
        try await eventually("it is left alone") { !source.isOpen.withLock { $0 } }
        // An earlier position does for whoever does not mind its age, without a watch.
        #expect(try await provider.position(.init(maximumAge: 60), for: .daemon).latitude == 1)
        #expect(source.openings.withLock { $0 } == 1)
    }

    @Test(arguments: [["maximumAge": -1], ["maximumAge": "x"], ["age": 1]] as [JSONObject])
    func `wrong options are invalid`(options: JSONObject) {
        #expect(throws: CommandError.self) { try subscribe(options) }
    }
}
