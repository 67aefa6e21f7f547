import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// What schedules cost while nothing is to be done, how exactly they run, and how long the check of many takes. A machine that
/// is busy with other things may disturb one measurement; the best of three counts.
@Suite("What schedules cost", .serialized)
struct ScheduleCostTests {
    /// Seconds since 1970.
    private static var time: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// So many, from an hour on and spread over twenty.
    private static func schedules(_ count: Int) -> String {
        (0..<count).map { number in
            var (moment, local) = (time_t(time) + 3600 + number * 72_000 / count, tm())
            localtime_r(&moment, &local)
            let text = String(format: "%02d:%02d", local.tm_hour, local.tm_min)
            return "at\(number): {schedule: {at: \"\(text)\"}, call: [ping]}\n"
        }.joined()
    }

    @Test(.measured) func `two hundred wake the daemon for their runs alone, and one runs within a tenth of a second`()
        async throws
    {
        let commands = "ping: {parameters: [], view: []}\nsubscribe: {business: [SubscribeBCO]}\n"
        let tick = "tick: {schedule: {every: 10s}, call: [ping]}\n"
        let mappings = try TestFolder.mappings(commands + tick + Self.schedules(199), after: [])
        let daemon = try await DaemonProcess(mappings: mappings.path)
        let client = try daemon.connect()
        _ = try await client.value("subscribe", ["tick"])
        let threads = ThreadList(process: daemon.process.pid)
        var (lateness, wakes) = ([Double](), [Int]())
        repeat {
            let run = try await client.nextReply()?.value.objectValue
            let planned = try #require(run?["planned"]?.integerValue)
            lateness.append(1000 * Self.time - Double(planned))
            // Sleeps until it has come to rest; the next run is far away.
            try await Task.sleep(for: .seconds(1))
            let before = threads.voluntarySwitches
            // Sleeps while the daemon should.
            try await Task.sleep(for: .seconds(4))
            wakes.append(threads.voluntarySwitches - before)
        } while lateness.count < 3 && (lateness.allSatisfy { $0 > 100 } || !wakes.contains(0))
        #expect(lateness.allSatisfy { $0 >= 0 } && lateness.contains { $0 <= 100 }, "\(lateness) ms late")
        #expect(wakes.contains(0), "woken \(wakes) times in 4 s between runs")
        #expect(try await daemon.stop() == .status(0))
    }

    @Test(.measured) func `a thousand events and schedules are checked within a second`() async throws {
        let (folder, mappings) = (try TestFolder(), try TestFolder())
        let events = (0..<500).map { number in
            "event\(number): {help: One., event: {type: object, members: {a: {type: integer}}, last: true}, post: {users: [root]}}\n"
        }
        let commands = "ping: {parameters: [], view: []}\n"
        try mappings.write(commands + events.joined() + Self.schedules(500), to: "own.yaml")
        try folder.write("{}", to: "settings.yaml")
        let arguments = ["--check", "--config", folder("settings.yaml"), "--mappings", mappings.path]
        var times: [Double] = []
        // The program that is tried without being made fast takes several times as long.
        let limit = Products.areReleased ? 1.0 : 8
        repeat {
            let begin = Self.time
            let result = try await ChildProcess.run(Products.path("quickconnectd"), arguments)
            times.append(Self.time - begin)
            #expect(result.exit == .status(0), "\(result.output)")
        } while times.count < 3 && times[times.count - 1] > limit
        #expect(times.contains { $0 <= limit }, "\(times) s")
    }
}
