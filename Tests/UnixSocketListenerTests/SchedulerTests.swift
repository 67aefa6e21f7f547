import Calendar
import Glibc
import JSON
import Logging
import QuickConnect
import Synchronization
import TestRig
import Testing

@testable import quickconnectd

/// With the kernel's timer, on a loop that goes around when the test says so.
@Suite("Running schedules", .serialized)
struct SchedulerTests {
    private static let place = SourceLocation(file: "own.yaml", line: 1, column: 1)
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let folder: TestFolder

    init() throws {
        setenv("TZ", "UTC", 1)
        tzset()
        folder = try TestFolder()
    }

    private func scheduler(now: @escaping @Sendable () -> Int64 = Scheduler.timeOfDay) -> Scheduler {
        Self.scheduler(folder("schedules.json"), now: now)
    }

    private static func scheduler(_ path: String, now: @escaping @Sendable () -> Int64) -> Scheduler {
        Scheduler(path: path, built: 0, place: nil, logger: logger, now: now)
    }

    /// Each day at the time that it will be in so many seconds.
    private func inSeconds(_ seconds: Int64, call: String? = nil) -> ScheduleDeclaration {
        let time = Int((Scheduler.timeOfDay() + seconds) % 86_400)
        var declaration = ScheduleDeclaration(ScheduleRule(.at(time)))
        declaration.call = call.map { PlannedCall(Located($0, at: Self.place), ["said"]) }
        return declaration
    }

    private static func table(_ schedules: [(String, ScheduleDeclaration)]) throws -> MappingTable {
        struct Nothing: BCO {
            func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome { .proceed }
        }
        struct NoAccounts: Accounts {
            func uid(ofUser name: String) -> UInt32? { nil }
            func gid(ofGroup name: String) -> UInt32? { nil }
        }
        var builder = MappingTableBuilder()
        for (name, schedule) in schedules {
            var declaration = MappingDeclaration(Located(name, at: place))
            (declaration.schedule, declaration.call) = (schedule, schedule.call)
            builder.add(declaration)
        }
        let none: (String) -> any CommandObject = { _ in Nothing() }
        return try builder.build(
            catalog: [:],
            scripts: none,
            declared: { name, _ in none(name) },
            accounts: NoAccounts()
        ).table
    }

    /// A client that hears of these.
    private func listener(_ connections: TestConnections, _ names: [String]) throws -> TestPeer {
        let client = try connections.connect()
        try connections.router.events.subscribe(client.connection, to: names, options: [:], form: .bridge)
        return client
    }

    private func runs(_ lines: [String]) throws -> [(name: String, run: JSONObject)] {
        try lines.map { line in
            let event = try #require(try JSONParser.parse(line).objectValue)
            return (event["handlerName"]?.stringValue ?? "", event["data"]?.objectValue ?? [:])
        }
    }

    private var timers: Int { openFiles(under: "anon_inode:[timerfd]").count }

    @Test func `a run comes at its time, by the timer, with its event and its call, and then the next one`()
        async throws
    {
        try await withConnections { connections in
            let scheduler = scheduler()
            let (soon, later) = (inSeconds(2), inSeconds(3, call: "echo"))
            let lost = inSeconds(3, call: "nobody")
            scheduler.adopt(try Self.table([("tick", soon), ("tock", later), ("lost", lost)]))
            let client = try listener(connections, ["tick", "tock", "lost"])
            #expect(scheduler.report(of: "tick")?.last == nil)
            scheduler.prepare(on: connections.loop, connections.router)
            scheduler.start(on: connections.loop)
            let first = try #require(scheduler.report(of: "tick")?.next)
            let runs = try runs(try await client.lines(3))
            #expect(Scheduler.timeOfDay() >= first + 1)
            #expect(runs.map(\.name) == ["tick", "lost", "tock"])
            #expect(runs.allSatisfy { $0.run["missed"] == false })
            #expect(runs.first?.run["planned"] == .integer(1000 * first))
            let report = try #require(scheduler.report(of: "tick"))
            #expect(report.next == first + 86_400 && report.result == "ok")
            #expect(try #require(report.last) >= first)
            #expect(scheduler.report(of: "tock")?.result == "ok")
            #expect(scheduler.report(of: "lost")?.result == "unknownCommand")
            await scheduler.stop()
        }
    }

    @Test func `a reload keeps what is planned, and the timer goes with the last schedule`() async throws {
        try await withConnections { connections in
            let before = timers
            let scheduler = scheduler()
            let far = ("far", inSeconds(36_000))
            scheduler.adopt(try Self.table([far]))
            let client = try listener(connections, ["tick", "far"])
            scheduler.prepare(on: connections.loop, connections.router)
            scheduler.start(on: connections.loop)
            connections.settle()
            #expect(timers == before + 1)
            let next = try #require(scheduler.report(of: "far")?.next)
            // An earlier one than the timer waits for.
            scheduler.adopt(try Self.table([far, ("tick", inSeconds(2))]))
            #expect(try runs(try await client.lines(1)).map(\.name) == ["tick"])
            #expect(scheduler.report(of: "far")?.next == next)
            scheduler.adopt(try Self.table([far]))
            connections.settle()
            _ = client.take()
            #expect(scheduler.report(of: "tick") == nil && scheduler.report(of: "far")?.next == next)
            #expect(timers == before + 1)
            let asked = Mutex<[String]>([])
            #expect(throws: CommandError.self) { try scheduler.run("tick", for: .daemon) { _ in } }
            try scheduler.run("far", for: .daemon) { result in asked.withLock { $0.append(result) } }
            #expect(asked.withLock { $0 } == ["ok"])
            #expect(try runs(try await client.lines(1)).map(\.name) == ["far"])
            scheduler.adopt(try Self.table([]))
            connections.settle()
            #expect(timers == before && scheduler.condition.count == 0)
            await scheduler.stop()
        }
    }

    @Test func `the end runs nothing more, keeps what is known, and closes the timer`() async throws {
        try await withConnections { connections in
            let before = timers
            let scheduler = scheduler()
            scheduler.adopt(try Self.table([("tick", inSeconds(2)), ("tock", inSeconds(4))]))
            let client = try listener(connections, ["tick", "tock"])
            scheduler.prepare(on: connections.loop, connections.router)
            scheduler.start(on: connections.loop)
            _ = try await client.lines(1)
            await scheduler.stop()
            _ = client.take()
            let records = ScheduleRecords.read(folder("schedules.json"), Self.logger)
            let last = try #require(records.runs["tick"]?.last)
            #expect(try #require(records.ended) >= last)
            // The timer comes for the other one, which does not run any more.
            try await eventually("its timer is closed") {
                connections.settle()
                return timers == before
            }
            #expect(client.take() == "")
            let refusal = #expect(throws: CommandError.self) { try scheduler.run("tick", for: .daemon) { _ in } }
            #expect(refusal?.code == .unavailable)
            // The next life goes on from there.
            let again = self.scheduler()
            again.adopt(try Self.table([("tick", inSeconds(2))]))
            #expect(again.report(of: "tick")?.last == last)
        }
    }

    /// A run that the start was a little late for counts as being on time, and its program is not there either.
    @Test(arguments: [-600, -30])
    func `the call of a run before the start waits for the program that answers it`(seconds: Int64) async throws {
        try await withConnections { connections in
            var (dark, light) = (inSeconds(seconds, call: "later"), inSeconds(seconds + 2, call: "echo"))
            var gone = inSeconds(seconds + 4, call: "removed")
            (dark.runsMissed, light.runsMissed, gone.runsMissed) = (true, true, true)
            let table = try Self.table([("dark", dark), ("light", light), ("gone", gone)])
            let before = scheduler { Scheduler.timeOfDay() - 1200 }
            before.adopt(table)
            await before.stop()
            let scheduler = scheduler()
            scheduler.adopt(table)
            let client = try listener(connections, ["dark", "light", "gone"])
            scheduler.prepare(on: connections.loop, connections.router)
            scheduler.start(on: connections.loop)
            let runs = try runs(try await client.lines(3))
            #expect(Set(runs.map(\.name)) == ["dark", "light", "gone"])
            #expect(runs.allSatisfy { $0.run["missed"] == .bool(seconds < -60) })
            // What has nobody to wait for does not wait.
            #expect(scheduler.report(of: "light")?.result == "ok")
            #expect(scheduler.report(of: "dark")?.result == nil)
            let program = try connections.connect(as: 1000)
            scheduler.adopt(try Self.table([("dark", dark), ("light", light)]))
            try connections.router.register("removed", of: program.connection)
            try connections.router.register("later", of: program.connection)
            let call = try #require(try JSONParser.parse(try await program.lines(1)[0]).objectValue)
            program.send(#"{"responseId":\#(call["callbackId"]?.text ?? ""),"responseData":1}"# + "\n")
            try await eventually("it has ended") {
                connections.step()
                return scheduler.report(of: "dark")?.result == "ok"
            }
            #expect(program.take() == "", "a schedule that a reload has removed calls nothing")
            await scheduler.stop()
        }
    }

    /// Reads of the timer fail as they do when somebody has set the clock. Its times have long passed, so it comes at each turn.
    @Test func `a clock that is set makes up for what is missed, and set back it runs nothing twice`()
        async throws
    {
        let path = folder("schedules.json")
        let told = try await RefusedCall.counterReads.with(ECANCELED) { Result { try Self.told(path) } }
        guard let told = try told?.get() else { return try skipRest("this kernel filters no calls") }
        #expect(told == ["", "report 70 missed", "", "night 70", ""])
    }

    /// What is run when the clock is set a few days forward, and back: hours from midnight.
    private static func told(_ path: String) throws -> [String] {
        let midnight: Int64 = 1_000_080_000
        let hours = Mutex<Int64>(20)
        let scheduler = scheduler(path) { midnight + hours.withLock { $0 } * 3600 }
        let rule = ScheduleRule(.at(22 * 3600))
        let report = ScheduleDeclaration(rule, runsMissed: true)
        scheduler.adopt(try table([("night", ScheduleDeclaration(rule)), ("report", report)]))
        let connections = try TestConnections(limits: Limits())
        let client = try connections.connect()
        try connections.router.events.subscribe(
            client.connection,
            to: ["night", "report"],
            options: [:],
            form: .bridge
        )
        scheduler.prepare(on: connections.loop, connections.router)
        scheduler.start(on: connections.loop)
        let turns: [(hour: Int64, runs: Int)] = [(20, 0), (71, 1), (50, 0), (70, 1), (70, 0)]
        return try turns.map { hour, runs in
            hours.withLock { $0 = hour }
            var (text, left) = ("", 2000)
            // A run waits until it is on the disk. Then there may come more than should.
            while left > 0 {
                connections.step()
                text += client.take() ?? ""
                left = text.count { $0 == "\n" } < runs ? left - 1 : min(left - 1, 20)
                // Sleeps while the disk writes.
                usleep(5000)
            }
            return try text.split(separator: "\n").map { line in
                let event = try JSONParser.parse(String(line)).objectValue
                let run = event?["data"]?.objectValue
                let hour = ((run?["planned"]?.integerValue ?? 0) / 1000 - midnight) / 3600
                return "\(event?["handlerName"]?.stringValue ?? "") \(hour)\(run?["missed"] == true ? " missed" : "")"
            }.sorted().joined(separator: ", ")
        }
    }
}
