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

/// Counts how often a watch looks for a report.
private final class CountingSource: ReportSource {
    let name = "test"
    let description = "the test"
    let turns = Mutex(0)
    let openings = Mutex(0)
    private let source: any ReportSource

    init(_ source: any ReportSource) { self.source = source }

    func open() throws(PlainError) -> any ReportStream {
        openings.withLock { $0 += 1 }
        return Stream(self, try source.open())
    }

    private final class Stream: ReportStream {
        private let source: CountingSource
        private let stream: any ReportStream

        init(_ source: CountingSource, _ stream: any ReportStream) { (self.source, self.stream) = (source, stream) }

        func next(_ waker: Waker, until end: ContinuousClock.Instant?) throws(PlainError) -> Report? {
            source.turns.withLock { $0 += 1 }
            return try stream.next(waker, until: end)
        }
    }
}

/// A watch against a server whose every word a test knows.
@Suite("The watch", .serialized)
struct WatchTests {
    private let server: FakeGPSD
    private let source: CountingSource
    private let provider: GPSDLocationProvider

    init() throws {
        server = try FakeGPSD()
        source = CountingSource(GPSDSource(host: "127.0.0.1", port: "\(server.port)"))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        provider = GPSDLocationProvider(source, answer: .seconds(5), logger: logger)
    }

    private func position(_ wish: PositionWish) -> Task<Result<Position, CommandError>, Never> {
        Task {
            do throws(CommandError) { return .success(try await provider.position(wish, for: .daemon)) } catch {
                return .failure(error)
            }
        }
    }

    private func awaitTurns(_ count: Int) async throws {
        try await eventually("it looks \(count) times") { source.turns.withLock { $0 } >= count }
    }

    @Test(.measured) func `an idle watch sleeps until there is something to read`() async throws {
        let caller = position(.init(timeout: 30))
        try await server.awaitClient()
        // Two reports, and the third time it sleeps.
        try await awaitTurns(3)
        let thread = ThreadList(named: "qc-gpsd")
        #expect(thread.count >= 1)
        try await eventually("it sleeps") {
            let before = thread.switches
            // Sleeps between looks.
            try await Task.sleep(for: .milliseconds(20))
            return thread.switches == before
        }
        let before = thread.switches
        // Sleeps while it should.
        try await Task.sleep(for: .milliseconds(400))
        #expect(source.turns.withLock { $0 } == 3 && thread.switches == before)
        server.fix(1, from: "/dev/a")
        #expect(try await caller.value.get().latitude == 1)
        try await eventually("it ends") { hasEnded }
        #expect(source.turns.withLock { $0 } <= 4)
    }

    /// Whether there is no thread, and nothing that it is woken by.
    private var hasEnded: Bool { !provider.thread.isRunning }

    @Test func `the last one who goes ends it`() async throws {
        let caller = position(.init(timeout: 30))
        try await server.awaitClient()
        try await awaitTurns(3)
        caller.cancel()
        #expect(await caller.value.code == .cancelled)
        await provider.close()
        #expect(hasEnded)
    }

    @Test func `a server that ends in the middle of a report is connected to anew, and not in a loop`() async throws {
        let caller = position(.init(timeout: 30))
        try await server.awaitClient()
        try await awaitTurns(3)
        server.send(#"{"class":"TPV","#)
        try await awaitTurns(4)
        server.hangUp()
        try await server.awaitClient()
        #expect(source.turns.withLock { $0 } < 10)
        server.fix(2, from: "/dev/a")
        #expect(try await caller.value.get().latitude == 2 && source.openings.withLock { $0 } == 2)
    }

    /// From each of these libgps 3.22 never returned.
    @Test(arguments: [
        #"{"class":"DEVICES","devices":[{"class":"DEVICE","path":"\#(String(repeating: "x", count: 300))"}]}"#,
        #"{"class":"DEVICES","devices":[{"class":"DEVICE""#, #"{"class":"RTCM3""class":"ERROR","message":"x}"#,
        #"{"class":"DEVICES","devices":["#
            + [String](repeating: #"{"class":"DEVICE","path":"a"}"#, count: 41).joined(separator: ",") + "]}",
        String(repeating: "{", count: 9000), "", "\u{0}",
    ])
    func `a line that is no report is passed over`(line: String) async throws {
        let caller = position(.init(timeout: 30))
        try await server.awaitClient()
        server.say(line)
        server.fix(3, from: "/dev/a")
        #expect(try await caller.value.get().latitude == 3 && source.openings.withLock { $0 } == 1)
    }

    /// As gpsd before 3.20 writes it, and as other programs do.
    @Test(arguments: [
        #"{"class":"TPV","device":"/dev/a","mode":3,"time":"TIME","lat":3.0,"lon":2.0,"alt":512.0}"#,
        #"{ "class": "TPV", "device": "/dev/a", "mode": 3, "time": "TIME", "lat": 3.0, "lon": 2.0, "altMSL": 512.0 }"#,
        #"{"mode": 3,"time":"TIME", "lat":3,"lon":2,"alt":1, "altMSL":512, "device":"/dev/a","class":"TPV"}"#,
        #"{"class":"TPV","device":null,"mode":3,"time":"TIME","lat":3.0,"lon":2.0,"altMSL":512.0,"speed":null}"#,
        #"{"class":"TPV","device":"/dev/a","mode":3,"time":"TIME","l\u0061t":3.0,"lon":2.0,"altMSL":512.0}"#,
    ])
    func `a position is one in whichever way it is written`(line: String) async throws {
        let caller = position(.init(timeout: 30, needsAltitude: true))
        try await server.awaitClient()
        let time = Date().ISO8601Format(.init(includingFractionalSeconds: true))
        server.say(line.replacingOccurrences(of: "TIME", with: time))
        let found = try await caller.value.get()
        #expect(found.latitude == 3 && found.longitude == 2 && found.altitude == 512)
    }

    /// A report that cannot be read, what other servers say, and a line that is longer than any of gpsd's.
    @Test(arguments: [
        #"{"class":"TPV","device":"/dev/a","mode":3,"lat":"47.5","lon":2.0}"#, "HTTP/1.1 400 Bad Request",
        "SSH-2.0-OpenSSH_9.2", "$GPGGA,104223.00,,,,,0,00,99.99,,,,,,*6A", #"{"error":"no"}"#,
        String(repeating: "x", count: 80_000),
    ])
    func `what is not understood is named until there is a fix, over the same connection`(line: String) async throws {
        let caller = position(.init(timeout: 30))
        try await server.awaitClient()
        server.say(line)
        func isNamed() -> Bool {
            provider.shared.withLock { $0.progress }.sentence("gpsd").hasPrefix(
                "gpsd says something that this program does not understand: \""
            )
        }
        try await eventually("it is named") { isNamed() }
        server.fix(4, from: "/dev/a")
        #expect(try await caller.value.get().latitude == 4 && source.openings.withLock { $0 } == 1)
        #expect(!isNamed())
    }

    @Test func `what is no position is no fix: the receiver is there`() async throws {
        let caller = position(.init(timeout: 0.5))
        try await server.awaitClient()
        server.say(
            #"{"class":"AIS","device":"/dev/a","type":1,"repeat":0,"mmsi":211234567,"scaled":false,"status":0,"turn":0,"#
                + #""speed":0,"accuracy":true,"lon":2400000,"lat":30600000,"course":0,"heading":511,"second":30,"#
                + #""maneuver":0,"raim":false,"radio":0}"#
        )
        guard case .failure(let error) = await caller.value else { throw NotInTime(description: "it was a position") }
        #expect(error.code == .timeout && error.details["reason"] == "noFix")
        #expect(!error.message.contains("plugged in"))
    }

    @Test func `of two receivers one counts as long as it has a fix, with its own satellites`() async throws {
        let router = eventRouter(provider.event)
        let subscriber = Subscriber()
        let session = Connection(caller: .daemon, router, output: subscriber)
        try router.events.subscribe(session, to: ["location"], options: [:], form: .url)
        try await server.awaitClient(receivers: ["/dev/a", "/dev/b"])
        server.sky(9, from: "/dev/b")
        server.sky(5, from: "/dev/a")
        for step in 0..<3 {
            server.fix(1 + Double(step) / 1000, from: "/dev/a")
            server.fix(60 + Double(step) / 1000, from: "/dev/b")
            server.sky(9, from: "/dev/b")
        }
        server.noFix(from: "/dev/a")
        server.fix(61, from: "/dev/b")
        server.fix(2, from: "/dev/a")
        server.fix(62, from: "/dev/b")
        try await eventually("they come") { subscriber.latitudes.last == 62 }
        #expect(subscriber.latitudes == [1, 1.001, 1.002, 61, 62])
        #expect(subscriber.values.withLock { $0.map { $0["satellites"] } } == [5, 5, 5, 9, 9])
        await provider.close()
    }
}
