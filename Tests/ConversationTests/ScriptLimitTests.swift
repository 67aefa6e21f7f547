import Foundation
import JSON
import TestRig
import Testing

/// Each limit through the real host and the real daemon, while a recording runs and another script answers.
@Suite("The limits of scripts", .serialized)
struct ScriptLimitTests {
    /// What a bad script does, which limit ends it, and what its caller gets.
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let body: String
        let limit: String
        // On a busy machine 300 ms of processor time may take seconds.
        var settings = "cpuTime: 300ms, handlerTime: 60s"

        var testDescription: String { name }
    }

    static let handlers = [
        Case(name: "a loop", body: "for (;;) {}", limit: "cpuTime"),
        Case(
            name: "a loop in try, catch and finally",
            body: "for (;;) { try { for (;;) {} } catch { for (;;) {} } finally { for (;;) {} } }",
            limit: "cpuTime"
        ),
        Case(
            name: "a catastrophic regular expression",
            // One gives up by itself after a while.
            body: "for (let i = 50; i < 100; i++) /^(a+)+$/.test('a'.repeat(i) + 'b')",
            limit: "cpuTime"
        ),
        Case(
            name: "a sort that never ends",
            body: "[3, 1, 2].sort((a, b) => { for (;;) {} })",
            limit: "cpuTime"
        ),
        Case(name: "an endless chain of awaits", body: "(async () => { for (;;) await 0 })()", limit: "cpuTime"),
        Case(
            name: "a promise that chains itself",
            body: "const again = () => Promise.resolve().then(again); again()",
            limit: "cpuTime"
        ),
        Case(
            name: "a flood of calls",
            body: "for (;;) makeCall('ping')",
            limit: "cpuTime",
            // A quick machine would come to the limit of memory first.
            settings: "cpuTime: 300ms, handlerTime: 60s, memoryBytes: 4294967296"
        ),
        Case(name: "a flood of the console", body: "for (;;) console.log('x'.repeat(1000))", limit: "cpuTime"),
        Case(
            name: "arrays without end",
            body: "const all = []; for (;;) all.push(new Array(1000).fill(7))",
            limit: "memoryBytes",
            settings: "cpuTime: 20s, handlerTime: 60s, memoryBytes: 134217728"
        ),
        Case(
            name: "a string without end",
            body: "let s = 'xy'; const all = []; for (let i = 0;; i++) all.push([...(s + i).repeat(1000)].join('-'))",
            limit: "memoryBytes",
            settings: "cpuTime: 20s, handlerTime: 60s, memoryBytes: 134217728"
        ),
        Case(
            name: "a native call that blocks",
            body: """
                const memory = new WebAssembly.Memory({initial: 1, maximum: 1, shared: true})
                Atomics.wait(new Int32Array(memory.buffer), 0, 0)
                """,
            limit: "handlerTime",
            // The other script has no more time for an answer.
            settings: "handlerTime: 5s"
        ),
    ]

    @Test(arguments: handlers) func `it is stopped and nobody else notices`(bad: Case) async throws {
        _ = try await Self.stop(bad)
    }

    @Test(.measured, arguments: handlers) func `another script's caller waits little`(bad: Case) async throws {
        let longest = try await Self.stop(bad)
        #expect(longest < .seconds(2))
    }

    /// - Returns: the longest time that another script's caller waited.
    private static func stop(_ bad: Case) async throws -> Duration {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        #expect(try await client.value("rec", ["take.wav", "start", ["limit": 600]]) == .null)
        let host = try ScriptProcess.host(
            [
                "bad.js": "WebViewJavascriptBridge.registerHandler('bad', () => { \(bad.body) })",
                "good.js": "WebViewJavascriptBridge.registerHandler('good', data => data[0] * 2)",
            ],
            daemon: daemon,
            settings: "scripts: {\(bad.settings)}"
        )
        defer { withExtendedLifetime(host) {} }
        try await client.awaitCommand("bad")
        try await client.awaitCommand("good")

        let victim = try daemon.connect()
        async let failure = victim.failure("bad")
        var longest = Duration.zero
        for _ in 0..<20 {
            let start = ContinuousClock.now
            #expect(try await client.value("good", [21]) == 42)
            longest = max(longest, .now - start)
        }
        let error = try await failure
        #expect(error["code"] == "scriptFailed" || error["code"] == "timeout")
        #expect(error["message"]?.stringValue?.contains("bad.js") == true)
        #expect(error["message"]?.stringValue?.contains(bad.limit) == true, "\(error["message"]?.stringValue ?? "")")

        try await eventually("the host tells the limit") {
            try await client.script("bad.js")["limit"]?.stringValue == bad.limit
        }
        #expect(try await client.script("good.js")["restarts"] == 0)
        // It is there again, and works.
        try await client.awaitScript("bad.js", "running")
        try await checkRecording(client, daemon)
        return longest
    }

    /// The recording has no hole: it is as long as the microphone says, and a tone from end to end.
    private static func checkRecording(_ client: SocketClient, _ daemon: DaemonProcess) async throws {
        try await client.awaitRecorded(1)
        let answer = try await client.value("rec", ["take.wav", "stop"]).objectValue ?? [:]
        #expect(answer["ending"] == nil)
        let file = try PCM16(wav: try Data(contentsOf: URL(fileURLWithPath: daemon.folder("media/take.wav"))))
        let sound = file.channel(0)
        #expect(abs(Double(sound.count) / 48_000 - (answer["seconds"]?.numberValue ?? 0)) < 0.001)
        let level = sound.map(abs).max() ?? 0
        let jump = zip(sound, sound.dropFirst()).map { abs($0 - $1) }.max() ?? 1
        #expect(level > 0.05)
        #expect(jump < level * 2 * Float.pi * 440 / 48_000 * 1.3, "the tone has a jump of \(jump)")
        #expect(sound.split(whereSeparator: { abs($0) > 0.05 * level }).map(\.count).max() ?? 0 < 40)
    }

    @Test func `timers without end are a millisecond apart`() async throws { #expect(try await Self.timers() <= 501) }

    @Test(.measured) func `timers without end come soon`() async throws { #expect(try await Self.timers() > 20) }

    /// How many timers without a pause run in half a second.
    private static func timers() async throws -> Int {
        let script = try ScriptProcess.run(
            """
            let n = 0
            const start = Date.now()
            function again() { n++; if (Date.now() - start < 500) setTimeout(again, 0); else console.log(n) }
            again()
            """,
            daemon: nil
        )
        #expect(try await script.end() == .status(0))
        return try #require(script.lines.first.flatMap { Int($0) })
    }

    @Test func `a core that is used up ends the script`() async throws {
        let busy = try ScriptProcess.run(
            "setInterval(() => { const end = Date.now() + 40; while (Date.now() < end); }, 1)",
            daemon: nil,
            // What is left of a core on a busy machine is more than this.
            settings: "scripts: {shareTime: 1s, sharePercent: 5}"
        )
        #expect(try await busy.end() == .status(1))
        #expect(busy.errors.contains("it used more than 5 % of a core over 1 s (sharePercent)"), "\(busy.errors)")
    }

    @Test func `the console takes 64 KiB in a second and counts the rest`() async throws {
        let script = try ScriptProcess.run(
            "for (let i = 0; i < 500; i++) console.log('x'.repeat(999)); setTimeout(() => console.log('later'), 1200)",
            daemon: nil
        )
        #expect(try await script.end() == .status(0))
        let told = #/(\d+) lines were dropped: more than 64 KiB in a second \(consoleBytes\)/#
        let dropped = script.errors.matches(of: told).compactMap { Int($0.output.1) }.reduce(0, +)
        // Where the machine takes longer than a second to write them, 65 of the next second are written, too.
        #expect(script.lines.last == "later" && script.lines.count >= 66 && script.lines.count + dropped == 501)
        #expect(dropped > 0, "\(script.errors)")
    }

    @Test func `deep recursion is an error like others`() async throws {
        let script = try ScriptProcess.run(
            "function down() { down() } try { down() } catch (error) { console.log(error.name) }",
            daemon: nil
        )
        #expect(try await script.end() == .status(0))
        #expect(script.lines == ["RangeError"])
    }

    @Test func `the place of a loop is told`() async throws {
        let script = try ScriptProcess.run(
            "function spin() {\n  for (;;) {}\n}\nfunction outer() {\n  spin()\n}\nouter()",
            daemon: nil,
            settings: "scripts: {cpuTime: 200ms}"
        )
        #expect(try await script.end() == .status(1))
        #expect(
            script.errors.contains("error: stopped: it used more than 0.2 s of CPU time without returning (cpuTime)")
        )
        #expect(script.errors.contains("at spin() at"))
        #expect(script.errors.contains("bell.js:5"), "\(script.errors)")
    }

    @Test(.measured) func `an idle script sleeps`() async throws {
        let daemon = try await DaemonProcess()
        let script = try ScriptProcess.run(
            "WebViewJavascriptBridge.registerHandler('idle', () => 1)",
            daemon: daemon
        )
        let client = try daemon.connect()
        try await client.awaitCommand("idle")
        #expect(try await client.value("idle", []) == 1)
        var (last, quietLooks) = (-1, 0)
        try await eventually("its threads have gone to sleep") {
            let now = Self.switches(script.process.pid)
            (last, quietLooks) = (now, now == last ? quietLooks + 1 : 0)
            return quietLooks > 40
        }
        let before = Self.switches(script.process.pid)
        // Sleeps while the script should.
        try await Task.sleep(for: .seconds(2))
        #expect(Self.switches(script.process.pid) - before <= 4)
    }

    /// How often the threads of a process have gone to sleep.
    private static func switches(_ pid: pid_t) -> Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
        return tasks.reduce(0) { sum, task in
            let text = (try? String(contentsOfFile: "/proc/\(pid)/task/\(task)/status", encoding: .utf8)) ?? ""
            let line = text.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
            return sum + (line.flatMap { Int($0.split(separator: "\t").last ?? "") } ?? 0)
        }
    }
}
