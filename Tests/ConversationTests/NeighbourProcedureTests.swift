import Foundation
import JSON
import TestRig
import Testing

/// What callers do at once to the service of procedures, while a neighbour asks for the list.
@Suite("Neighbours at the service of procedures", .serialized)
struct NeighbourProcedureTests {
    /// By how much a neighbour may wait longer than with an idle service. In debug builds parsing takes many times as
    /// long, and the processes that parse share two cores with what is measured.
    private static let limit: Duration = Products.areReleased ? .milliseconds(10) : .milliseconds(150)

    private static let procedures = [
        "busy": "function execute() { for (;;) {} }", "same": "function execute(x, c) { c(x) }",
        "large": "function execute(c) { const a = []; for (let i = 0; i < 4e5; i++) a.push([i]); c(a) }",
    ]

    private func call(_ command: String, _ values: [JSONValue], id: String) -> String {
        JSONValue.object([
            "handlerName": .string(command), "data": .array(values), "callbackId": .string(id),
        ]).text
    }

    /// The best of three highest waits for a list, each of several calls in a row.
    private func wait(_ neighbour: SocketClient) async throws -> Duration {
        var best = Duration.seconds(100)
        for _ in 0..<3 {
            var highest = Duration.zero
            for _ in 0..<20 {
                let begin = ContinuousClock.now
                _ = try await neighbour.value("procedures", ["list"])
                highest = max(highest, ContinuousClock.now - begin)
            }
            best = min(best, highest)
        }
        return best
    }

    /// A client of another user, if this one is root.
    private func stranger(_ daemon: DaemonProcess, _ number: Int) throws -> SocketClient {
        guard OtherUser.isPossible else { return try daemon.connect() }
        return try OtherUser.act(as: 60_000 + UInt32(number)) { try daemon.connect() }
    }

    @Test(.measured, arguments: [1, 2, 5, 50])
    func `whatever others do, a list comes at once`(peers: Int) async throws {
        let (daemon, service, client) = try await ProcedureTests.start(
            Self.procedures,
            settings: "procedures: {time: 5s, parallel: 2}"
        )
        chmod(daemon.folder.path, 0o755)
        chmod(daemon.socket, 0o666)
        let deep = JSONValue.array((0..<(peers < 10 ? 60_000 : 12_000)).map { [.integer($0)] })
        let idle = try await wait(client)
        let memory = service.residentBytes
        let strangers = try (0..<peers).map { try stranger(daemon, $0) }
        try service.folder.write("// " + String(repeating: "x", count: 1_000_000), to: "procedures/long.js")
        for (number, one) in strangers.enumerated() {
            for round in 0..<3 {
                let id = "\(number).\(round)"
                one.send(call("execute", ["busy"], id: "b\(id)"))
                one.send(call("execute", ["same", deep], id: "s\(id)"))
                one.send(call("execute", ["large"], id: "l\(id)"))
                one.send(call("procedures", ["show", "long"], id: "show\(id)"))
                for verb in ["list", "sync"] { one.send(call("procedures", [.string(verb)], id: "\(verb)\(id)")) }
            }
        }
        let busy = try await wait(client)
        print(
            "procedures list, \(peers) peers: idle \(idle), busy \(busy), "
                + "memory \(memory >> 20) → \(service.residentBytes >> 20) MiB"
        )
        #expect(busy - idle <= Self.limit, "idle \(idle), with \(peers) peers \(busy)")
        #expect(service.residentBytes - memory < 200 << 20)
        for one in strangers { one.close() }
        try await eventually("nothing runs, and nothing waits") {
            let state = try await client.value("procedures", ["list"]).objectValue ?? [:]
            return state["running"] == 0 && state["waiting"] == 0
        }
        try await eventually("the memory is given back", within: .seconds(10)) {
            service.residentBytes - memory < 48 << 20
        }
    }

    @Test func `a process that reads nothing delays nobody, and is ended`() async throws {
        let (daemon, service, client) = try await ProcedureTests.start(
            Self.procedures,
            settings: "procedures: {time: 2s, parallel: 1}"
        )
        // A process that began before the data has its file is replaced when the file is there.
        _ = try await client.value("data", ["info"])
        #expect(try await client.value("execute", ["same", 1]) == 1)
        let workers = ProcedureTests.children(of: service.process.pid)
        #expect(workers.count == 1)
        for worker in workers { kill(worker, SIGSTOP) }
        let other = try daemon.connect()
        let text = JSONValue.string(String(repeating: "x", count: 2 << 20))
        other.send(call("execute", ["same", text], id: "1"))
        // The list comes while the process does not read.
        try await eventually("it has the job") {
            try await client.value("procedures", ["list"]).objectValue?["running"] == 1
        }
        let message = try await other.nextMessage()
        #expect(message?["error"]?.objectValue?["code"] == "timeout", "\(String(describing: message))")
        #expect(try await client.value("execute", ["same", 2]) == 2)
    }

    @Test(.enabled(if: OtherUser.isPossible, "only root can connect as another user"))
    func `callers take turns, each has a share, and the long ones of one take no place of another`() async throws {
        let (daemon, service, client) = try await ProcedureTests.start(
            Self.procedures,
            settings: "procedures: {time: 30s, parallel: 1}"
        )
        defer { withExtendedLifetime(service) {} }
        chmod(daemon.folder.path, 0o755)
        chmod(daemon.socket, 0o666)
        let (bob, ann) = (try stranger(daemon, 1), try stranger(daemon, 2))
        for number in 0..<400 { bob.send(call("execute", ["busy"], id: "\(number)")) }
        var refused = 0
        while refused < 100, let message = try await bob.nextMessage() {
            #expect(message["error"]?.objectValue?["code"] == "overloaded")
            refused += 1
        }
        // A place of her own.
        #expect(try await ann.value("execute", ["same", 1]) == 1)
        let state = try await client.value("procedures", ["list"]).objectValue ?? [:]
        let waiting = state["waiting"]?.integerValue ?? 0
        #expect((200...260).contains(waiting), "\(waiting)")
        let largest = state["largest"]?.arrayValue?.first?.objectValue
        #expect(largest?["caller"] == "60001", "\(String(describing: largest))")
        #expect(largest?["waiting"]?.integerValue == waiting)
        bob.close()
    }

    @Test func `who always asks for a sync keeps nobody else's from its answer`() async throws {
        let (daemon, service, client) = try await ProcedureTests.start(
            Self.procedures,
            settings: "procedures: {sync: \"https://127.0.0.1:1\"}"
        )
        defer { withExtendedLifetime(service) {} }
        let bob = try daemon.connect()
        for number in 0..<900 { bob.send(call("procedures", ["sync"], id: "\(number)")) }
        _ = try await client.value("procedures", ["sync"])
        bob.close()
    }

    @Test func `a statement that does not return is ended in its time, with its name`() async throws {
        let (daemon, service, client) = try await ProcedureTests.start(
            [
                "sql": "function execute(text, callback) { callback(Context.context().sql(text)) }",
                // SQLite looks at no clock while one row is made.
                "long": """
                function execute(callback) {
                    const terms = Array.from({length: 1200}, (_, i) => `length(upper(hex(x)||${i}))`).join(',')
                    callback(Context.context().sql(`SELECT max(${terms.split(',').slice(0, 90).join(',')}), ${terms} FROM (SELECT printf('%.*c', 2000000, 'a') AS x)`))
                }
                """,
            ],
            settings: "procedures: {sqlTime: 1s, time: 20s}"
        )
        defer { withExtendedLifetime((daemon, service)) {} }
        let failure = try await client.failure("execute", ["long"])
        #expect(["timeout", "tooLarge"].contains(failure["code"]?.stringValue), "\(failure)")
        let printf = JSONValue.string("SELECT printf('%.*c', 900000000, 'x')")
        #expect(try await client.failure("execute", ["sql", printf])["code"] == "tooLarge")
        #expect(try await client.value("execute", ["sql", "SELECT 1 AS n"]) == [["n": 1]])
    }

    @Test func `the watchdog is fed from the loop`() async throws {
        let systemd = try NotifySocket()
        let daemon = try await DaemonProcess()
        let environment = ["NOTIFY_SOCKET": systemd.path, "WATCHDOG_USEC": "200000"]
        let services = [
            try ScriptProcess.procedures([:], daemon: daemon, environment: environment),
            try ScriptProcess.host([:], daemon: daemon, environment: environment),
        ]
        for service in services {
            for other in services where other !== service { other.process.send(SIGSTOP) }
            _ = systemd.messages()
            var told: [String] = []
            try await eventually("it is fed four times") {
                told += systemd.messages()
                return told.count { $0 == "WATCHDOG=1" } >= 4
            }
            for other in services { other.process.send(SIGCONT) }
        }
    }
}

extension ScriptProcess {
    /// The memory of the host, without its processes.
    var residentBytes: Int {
        let text = (try? String(contentsOfFile: "/proc/\(process.pid)/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
