import Concurrency
import Foundation
import JSON
import Logging
import QuickConnect
import Synchronization
import TestRig
import Testing

@testable import GPSDLocation

/// Against a real gpsd, whose receiver the tests play.
@Suite("gpsd", .serialized, .enabled(if: GPSDServer.isInstalled, "gpsd is not installed"))
struct GPSDTests {
    private func provider(_ server: GPSDServer) -> GPSDLocationProvider { provider(port: server.port) }

    private func provider(port: Int, answer: Duration = .seconds(5)) -> GPSDLocationProvider {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return GPSDLocationProvider(host: "127.0.0.1", port: "\(port)", answer: answer, logger: logger)
    }

    private func position(
        _ provider: GPSDLocationProvider,
        _ wish: PositionWish = .init(timeout: 10)
    ) async -> Result<Position, CommandError> {
        do throws(CommandError) { return .success(try await provider.position(wish, for: .daemon)) } catch {
            return .failure(error)
        }
    }

    private func reason(_ result: Result<Position, CommandError>) -> String? {
        if case .failure(let error) = result { error.details["reason"]?.stringValue } else { nil }
    }

    @Test(arguments: [(-33.856_789, 151.215_123, 5.4), (51.500_729, -0.124_625, -3.2), (0.000_012, -179.999_95, 4810)])
    func `a position is right to a millionth of a degree`(
        latitude: Double,
        longitude: Double,
        altitude: Double
    ) async throws {
        let server = try await GPSDServer.start()
        let provider = provider(server)
        let found = try await server.saying({ NMEA(latitude, longitude, altitude: altitude).fix }) {
            try await position(provider).get()
        }
        #expect(abs(found.latitude - latitude) < 1e-6 && abs(found.longitude - longitude) < 1e-6)
        #expect(abs(try #require(found.altitude) - altitude) < 0.1)
        #expect(found.mode == 3 && found.source == "gpsd")
        try await eventually("gpsd is left alone") { server.clients == 0 }
    }

    @Test func `a 2D fix has no altitude, and high accuracy waits for one`() async throws {
        let server = try await GPSDServer.start()
        let provider = provider(server)
        try await server.saying({ NMEA(10, 20, altitude: nil).fix }) {
            let found = try await position(provider).get()
            #expect(found.altitude == nil && found.mode == 2)
            let result = await position(provider, .init(timeout: 1.5, needsAltitude: true))
            #expect(result.code == .timeout && reason(result) == "no3DFix")
        }
        try await server.saying({ NMEA(10, 20, altitude: 7).fix }) {
            #expect(await position(provider, .init(timeout: 10, needsAltitude: true)).code == nil)
        }
    }

    @Test func `ten callers at once cost one watch, and each gets its answer`() async throws {
        let server = try await GPSDServer.start()
        let provider = provider(server)
        let callers = (0..<10).map { _ in Task { await position(provider) } }
        try await eventually("they wait") { provider.state()["locating"]?.arrayValue?.count == 10 }
        try await eventually("gpsd is watched") { server.clients == 1 }
        try await server.saying({ NMEA(1, 2).fix }) {
            for caller in callers { #expect(await caller.value.code == nil) }
        }
        try await eventually("gpsd is left alone") { server.clients == 0 }
    }

    @Test func `no gpsd is unavailable at once, and works when it is there`() async throws {
        let port = try GPSDServer.freePort()
        let provider = provider(port: port)
        var result = await position(provider)
        #expect(result.code == .unavailable && reason(result) == "unreachable")
        #expect(result.message.contains("gpsd on 127.0.0.1:\(port) cannot be reached"))

        let server = try await GPSDServer.start()
        let other = self.provider(server)
        try await server.kill()
        #expect(await position(other).code == .unavailable)
        try await server.restart()
        result = try await server.saying({ NMEA(1, 2).fix }) { await position(other) }
        #expect(result.code == nil)
    }

    @Test func `a gpsd without a receiver is unavailable`() async throws {
        let server = try await GPSDServer.start(hasReceiver: false)
        let result = await position(provider(server))
        #expect(result.code == .unavailable && reason(result) == "noReceiver")
    }

    @Test func `a silent receiver, one without a fix and an old fix each time out with their reason`() async throws {
        let server = try await GPSDServer.start()
        let provider = provider(server)
        let silent = await position(provider, .init(timeout: 1))
        #expect(silent.code == .timeout && reason(silent) == "silent")
        let noFix = try await server.saying({ NMEA(1, 2).noFix }) { await position(provider, .init(timeout: 2)) }
        #expect(noFix.code == .timeout && reason(noFix) == "noFix")
        let old = Date(timeIntervalSinceNow: -3600)
        try await server.saying({ NMEA(1, 2, time: old).fix }) {
            let stale = await position(provider, .init(timeout: 2))
            #expect(stale.code == .timeout && reason(stale) == "stale" && stale.message.contains("clock right?"))
            // Who does not mind its age gets it.
            #expect(await position(provider, .init(maximumAge: 7200, timeout: 3)).code == nil)
        }
    }

    @Test func `gpsd killed and started again in the middle of a wait is survived`() async throws {
        let server = try await GPSDServer.start()
        let provider = provider(server)
        let caller = Task { await position(provider, .init(timeout: 20)) }
        try await eventually("gpsd is watched") { server.clients == 1 }
        try await server.kill()
        try await server.restart()
        #expect(try await server.saying({ NMEA(1, 2).fix }) { await caller.value.code } == nil)
    }

    @Test func `gpsd frozen in the middle of a wait is survived, and for ever frozen it is a timeout`() async throws {
        let server = try await GPSDServer.start()
        let provider = provider(server)
        let caller = Task { await position(provider, .init(timeout: 20)) }
        try await eventually("gpsd is watched") { server.clients == 1 }
        server.send(SIGSTOP)
        let other = self.provider(server)
        let frozen = await position(other, .init(timeout: 1))
        #expect(frozen.code == .timeout && reason(frozen) == "frozen")
        server.send(SIGCONT)
        #expect(try await server.saying({ NMEA(1, 2).fix }) { await caller.value.code } == nil)
    }

    /// A host that takes no connection and refuses none: its queue is full.
    @Test func `a host that does not answer at all is a timeout, and is asked again when it does`() async throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let port = try GPSDServer.freePort()
        #expect(withLoopback(port) { bind(listener, $0, $1) } == 0 && listen(listener, 0) == 0)
        let others = (0..<4).map { _ in
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            _ = withLoopback(port) { connect(descriptor, $0, $1) }
            return descriptor
        }
        defer { for descriptor in others { close(descriptor) } }
        let provider = provider(port: port, answer: .milliseconds(500))
        provider.event.start(publishingTo: EventHub(limits: Limits()))
        let time = await seconds {
            let result = await position(provider, .init(timeout: 5))
            #expect(result.code == .timeout && reason(result) == "unreachable")
        }
        #expect(time < 2)
        let refused = await position(provider, .init(timeout: 5))
        #expect(refused.code == .unavailable && refused.message.contains("has not come back"))
        close(listener)
        // The call comes back; the subscriber's watch goes on, and callers are answered again.
        try await eventually("it is asked again", within: .seconds(30)) {
            await position(provider, .init(timeout: 1)).message.contains("cannot be reached")
        }
        await provider.close()
    }

    @Test func `impossible values are no position`() async throws {
        let server = try await GPSDServer.start()
        let provider = provider(server)
        let hostile: @Sendable () -> [String] = {
            NMEA(1, 2).fix.map { sentence in
                sentence.replacing("0100.00000,N", with: "9999.99999,N").replacing("50.0,M", with: "1e308,M")
            }
        }
        let result = try await server.saying(hostile) { await position(provider, .init(timeout: 2)) }
        #expect(result.code == .timeout && reason(result) == "noFix")
    }

    @Test func `whoever gives up or goes leaves at once, and gpsd is left alone`() async throws {
        let server = try await GPSDServer.start()
        let provider = provider(server)
        let caller = Task { await position(provider, .init(timeout: 60)) }
        try await eventually("gpsd is watched") { server.clients == 1 }
        caller.cancel()
        #expect(await caller.value.code == .cancelled)
        try await eventually("gpsd is left alone") { server.clients == 0 }
        #expect(provider.state()["locating"] == [])
    }

    @Test(.measured) func `an answer comes with the next epoch, as gpspipe's does`() async throws {
        let server = try await GPSDServer.start()
        let provider = provider(server)
        let epochs = Mutex<[ContinuousClock.Instant]>([])
        let receiver: @Sendable () -> [String] = {
            epochs.withLock { $0.append(.now) }
            return NMEA(1, 2).fix
        }
        try await server.saying(each: .milliseconds(500), receiver) {
            // The first epochs are those in which gpsd learns its receiver.
            for _ in 0..<3 { #expect(await position(provider).code == nil) }
            for _ in 0..<3 {
                let arguments = ["-w", "-n", "4", "127.0.0.1:\(server.port)"]
                let peer = try await seconds { _ = try await ChildProcess.run("gpspipe", arguments) }
                let before = epochs.withLock { $0.count }
                let time = await seconds { #expect(await position(provider).code == nil) }
                let (count, latest) = epochs.withLock { ($0.count, $0.last ?? .now) }
                // One that was on its way when the call came may be among them.
                #expect((1...2).contains(count - before), "\(time) s, gpspipe \(peer) s")
                #expect(latest.duration(to: .now) < .milliseconds(400), "\(time) s, gpspipe \(peer) s")
            }
        }
    }

    @Test func `the doctor names the dead link`() async throws {
        func link(_ port: Int) async -> Finding? {
            // A program that every machine has stands for an installed gpsd.
            await LocationDoctor(host: "127.0.0.1", port: "\(port)", program: "/bin/sh").examine(thoroughly: false)
                .first
        }
        let absent = LocationDoctor(host: "127.0.0.1", port: "\(try GPSDServer.freePort())", program: "/no/gpsd")
        #expect(await absent.examine(thoroughly: false).first?.fix == "sudo apt-get install gpsd")
        let nobody = await link(try GPSDServer.freePort())
        #expect(nobody?.state == .error && nobody?.fix?.contains("systemctl restart gpsd") == true)
        let poor = try await GPSDServer.start(hasReceiver: false)
        #expect(await link(poor.port)?.says.contains("has no receiver") == true)
        let server = try await GPSDServer.start()
        #expect(await link(server.port)?.says.contains("receiver says nothing") == true)
        let well = try await server.saying({ NMEA(1, 2).fix }) { await link(server.port) }
        #expect(well?.state == .ok && well?.says.contains("3D fix") == true)
    }

    @Test func `the doctor asks once for all who ask at the same time, on one thread`() async throws {
        let server = try await GPSDServer.start()
        server.send(SIGSTOP)
        defer { server.send(SIGCONT) }
        let doctor = LocationDoctor(host: "127.0.0.1", port: "\(server.port)")
        await withTaskGroup(of: Finding?.self) { group in
            for _ in 0..<20 { group.addTask { await doctor.examine(thoroughly: false).first } }
            for await finding in group { #expect(finding?.says.contains("says nothing; is it stopped?") == true) }
        }
        #expect(ThreadList(named: "qc-gps-dr").count == 1)
    }
}
