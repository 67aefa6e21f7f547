import Foundation
import JSON
import QuickConnect
import QuickConnectClient
import Synchronization
import TestRig
import Testing

/// The async API, against a real daemon.
@Suite("A Swift program that drives a device")
struct DeviceTests {
    fileprivate func failure(_ body: () async throws(CallFailure) -> Void) async -> CallFailure? {
        do throws(CallFailure) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test func `it calls, and gets values and errors`() async throws {
        let daemon = try await DaemonProcess()
        let device = DeviceClient(socket: daemon.socket)
        #expect(try await device.call("ping") == .null)
        #expect(try await device.call("hello").objectValue?["program"] == "quickconnectd")
        let place = try await device.reply(to: "loc", timeout: .seconds(30))
        #expect(place.command == "showLoc" && place.value.arrayValue?.count == 4)
        let refused = try #require(
            await failure { () throws(CallFailure) in _ = try await device.call("play", [7, "loud"]) }
        )
        #expect(refused.code == "invalid" && refused.fields.map(\.field) == ["/0", "/1"])
        let unknown = await failure { () throws(CallFailure) in _ = try await device.call("lok") }
        guard case .refused(let error)? = unknown else { return #expect(Bool(false)) }
        #expect(error.code == "unknownCommand" && error.members["nearest"]?.arrayValue?.contains("loc") == true)
    }

    @Test func `calls beside each other are answered each, and keep their order`() async throws {
        let daemon = try await DaemonProcess()
        let device = DeviceClient(socket: daemon.socket)
        let sum = try await withThrowingTaskGroup(of: Int64.self) { group in
            for number in 0..<3000 {
                group.addTask {
                    try await device.call("explain", ["ping"]).objectValue?["command"] == "ping"
                        ? Int64(number) : -1_000_000
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 2999 * 3000 / 2)
    }

    @Test func `the documented handler gets its parameter from a shell and from every language`() async throws {
        let daemon = try await DaemonProcess()
        let device = DeviceClient(socket: daemon.socket)
        let lamp = Task {
            try await device.handle("brighten") { call in
                guard let level = call.parameters.first?.numberValue else {
                    throw HandlerCall.Failure(.invalid, "a level is missing", field: "/0")
                }
                return .number(level)
            }
        }
        try await eventually("a shell's call") { try await daemon.client("call", "brighten", "0.5").output == "0.5\n" }
        #expect(try await daemon.client("call", "brighten").exit == .status(1))
        #expect(try await device.call("brighten", [0.5, 1]) == 0.5)
        for language in ClientLanguage.installed {
            let process = try language.start("scenarios", "parameters", socket: daemon.socket)
            try await process.wait(within: .seconds(60))
            let all = ["[]", "[0.5]", #"[{"a":[1]}]"#, "[[1,2]]", "[1,null]"].map { "all \($0)" }
            #expect(process.outputLines == ["swift 0.5"] + all, "\(process.errors)")
        }
        lamp.cancel()
    }

    @Test func `a handler that no call comes to is a warning`() async throws {
        let daemon = try await DaemonProcess()
        let heard = Mutex<[String]>([])
        let device = DeviceClient(socket: daemon.socket) { warning in heard.withLock { $0.append(warning) } }
        let ping = Task { try await device.handle("ping") { _ in 1 } }
        let rings = Task { try await device.handle("rings") { _ in 7 } }
        try await eventually("a warning") { heard.withLock { !$0.isEmpty } }
        try await eventually("the other handler") { (try? await device.call("rings")) == 7 }
        let warnings = heard.withLock { $0 }
        #expect(
            warnings.count == 1 && warnings[0].hasPrefix("'ping' is a command of the mappings already"),
            "\(warnings)"
        )
        ping.cancel()
        rings.cancel()
    }

    @Test func `a cancelled task's wait ends at once, and the daemon ends the call`() async throws {
        let daemon = try await RestartedDaemon()
        let silent = try await daemon.silent()
        let device = DeviceClient(socket: daemon.socket)
        let call = Task { await failure { () throws(CallFailure) in _ = try await device.call("never") } }
        let id = try #require(try await silent.nextMessage()?["callbackId"])
        call.cancel()
        #expect(await call.value == .cancelled)
        // The connection still works, and the daemon has seen the end of the call by then.
        #expect(try await device.call("ping", timeout: .seconds(20)) == .null)
        silent.send(JSONValue.object(["responseId": id, "responseData": 1]).text)
        #expect(try await silent.value("state", []).objectValue?["droppedAnswers"] == 1)
        // One that is cancelled before it begins.
        let early = Task { await failure { () throws(CallFailure) in _ = try await device.call("never") } }
        early.cancel()
        #expect(await early.value == .cancelled)
    }

    @Test func `a call has a deadline, also where no daemon is, or a frozen one`() async throws {
        let folder = try TestFolder()
        let alone = DeviceClient(socket: folder("none"))
        #expect(
            await failure { () throws(CallFailure) in _ = try await alone.call("ping", timeout: .milliseconds(100)) }
                == .timedOut
        )
        #expect(alone.connectionProblem?.contains(folder("none")) == true)
        let daemon = try await RestartedDaemon()
        let device = DeviceClient(socket: daemon.socket)
        _ = try await device.call("ping")
        #expect(device.connectionProblem == nil)
        daemon.freeze()
        #expect(
            await failure { () throws(CallFailure) in _ = try await device.call("ping", timeout: .milliseconds(200)) }
                == .timedOut
        )
        daemon.thaw()
        #expect(try await device.call("ping", timeout: .seconds(20)) == .null)
    }

    @Test func `events come in order, of the newest, and what a slow reader misses is counted`() async throws {
        let daemon = try await DaemonProcess()
        let device = DeviceClient(socket: daemon.socket)
        let events = device.events("news", bufferSize: 3)
        try await events.ready()
        for number in 1...10 { _ = try await device.call("post", ["news", .integer(Int64(number))]) }
        var heard: [DeviceEvents.Event] = []
        for try await event in events {
            heard.append(event)
            if heard.count == 3 { break }
        }
        #expect(heard.map(\.value) == [8, 9, 10] && heard.map(\.dropped) == [7, 0, 0])
    }

    @Test func `a subscription ends with its sequence, and not before the last one of its name`() async throws {
        let daemon = try await DaemonProcess()
        let device = DeviceClient(socket: daemon.socket)
        let client = try daemon.connect()
        func subscribers() async throws -> Bool { try await client.value("state", []).text.contains("weather") }
        var one: DeviceEvents? = device.events("weather")
        var other: DeviceEvents? = device.events("weather")
        try await one?.ready()
        try await other?.ready()
        #expect(try await subscribers())
        one = nil
        _ = try await device.call("ping")
        #expect(try await subscribers())
        other = nil
        try await eventually("nobody listens any more") { try await !subscribers() }
        withExtendedLifetime((one, other)) {}
    }

    @Test func `what the daemon refuses is thrown`() async throws {
        // It simulates nothing, and has no sensor.
        let daemon = try await DaemonProcess([])
        let device = DeviceClient(socket: daemon.socket)
        let events = device.events("accel")
        #expect(await failure { () throws(CallFailure) in try await events.ready() }?.code == "unsupported")
        var iterator = events.makeAsyncIterator()
        #expect(await failure { () throws(CallFailure) in _ = try await iterator.next() }?.code == "unsupported")
        let holder = try daemon.connect()
        _ = try await holder.ask(#"{"handlerName":"registerHandler","data":["lamp"],"callbackId":"1"}"#)
        #expect(await failure { () throws(CallFailure) in try await device.handle("lamp") { _ in 1 } }?.code == "busy")
    }

    @Test func `a handler answers with values and errors until its task is cancelled`() async throws {
        let daemon = try await DaemonProcess()
        let device = DeviceClient(socket: daemon.socket)
        let lamp = Task {
            try await device.answer("lamp", atOnce: 2) { call in
                switch call.data.arrayValue?.first {
                case 0: throw HandlerCall.Failure(.busy, "it is off", field: "/0")
                case 1: throw NotInTime(description: "no bulb")
                case let level?: return HandlerCall.Answer(level, replyCommand: "showLamp")
                case nil: return HandlerCall.Answer(try await device.call("ping"))
                }
            }
        }
        let client = try daemon.connect()
        try await client.awaitCommand("lamp")
        #expect(try await client.ask("call?cmd=lamp&msg=5&id=a") == "handleJSONRequest?cmd=showLamp&msg=5&id=a")
        #expect(try await client.value("lamp", []) == .null)
        #expect(try await client.failure("lamp", [0])["code"] == "busy")
        let failed = try await client.failure("lamp", [1])
        #expect(failed["code"] == "scriptFailed" && failed["message"] == "no bulb")
        lamp.cancel()
        try await lamp.value
        try await eventually("it is taken back") { try await client.failure("lamp", [1])["code"] == "unknownCommand" }
    }

    @Test func `calls that run beside each other do not wait for a slow one`() async throws {
        let daemon = try await DaemonProcess()
        let device = DeviceClient(socket: daemon.socket)
        let lamp = Task {
            try await device.handle("lamp") { call in
                // Sleeps as a handler that takes long.
                if call.data == [0] { try await Task.sleep(for: .seconds(3600)) }
                return call.data
            }
        }
        let client = try daemon.connect()
        try await client.awaitCommand("lamp")
        let patient = try daemon.connect()
        patient.send("call?cmd=lamp&msg=0&id=slow")
        for number in 1...20 {
            #expect(try await client.value("lamp", [.integer(Int64(number))]) == [.integer(Int64(number))])
        }
        lamp.cancel()
        let reply = try await patient.nextReply()
        #expect(reply?.id == "slow" && reply?.code == "unavailable")
    }

    @Test func `a handler's task ends with its caller, or with the daemon, where it asks for that`() async throws {
        let daemon = try await RestartedDaemon()
        let device = DeviceClient(socket: daemon.socket)
        let begun = Atomic<Int>(0)
        let cancelled = Atomic<Int>(0)
        let lamp = Task {
            try await device.handle("lamp", endsWithCaller: true) { call in
                guard call.data == [0] else { return call.data }
                begun.add(1, ordering: .relaxed)
                defer { cancelled.add(Task.isCancelled ? 1 : 0, ordering: .relaxed) }
                // Sleeps until it is cancelled.
                try await Task.sleep(for: .seconds(3600))
                return .null
            }
        }
        let client = try daemon.connect()
        try await client.awaitCommand("lamp")
        #expect(try await client.value("lamp", [1]) == [1])
        for (count, end) in ["cancel", "close", "kill"].enumerated() {
            let caller = try daemon.connect()
            caller.send("call?cmd=lamp&msg=0&id=slow")
            try await eventually("it has begun") { begun.load(ordering: .relaxed) == count + 1 }
            switch end {
            case "cancel": _ = try await caller.ask("call?cmd=cancel&msg=slow")
            case "close": caller.close()
            default: try await daemon.kill()
            }
            try await eventually("\(end) ends it") { cancelled.load(ordering: .relaxed) == count + 1 }
        }
        try await daemon.start()
        let second = try daemon.connect()
        try await second.awaitCommand("lamp")
        #expect(try await second.value("lamp", [2]) == [2])
        lamp.cancel()
        try await lamp.value
    }

    @Test func `a daemon that was killed and started again learns what stands, and no call is made twice`() async throws
    {
        let daemon = try await RestartedDaemon()
        let device = DeviceClient(socket: daemon.socket)
        let lamp = Task { try await device.handle("lamp") { _ in "on" } }
        let events = device.events("news")
        try await events.ready()
        try await daemon.connect().awaitCommand("lamp")
        let silent = try await daemon.silent()
        let call = Task { await failure { () throws(CallFailure) in _ = try await device.call("never") } }
        #expect(try await silent.nextMessage()?["handlerName"] == "silent")
        try await daemon.kill()
        guard case .connectionLost? = await call.value else { return #expect(Bool(false)) }
        // Made while no daemon is there: its socket's file is.
        let waiting = Task { try await device.call("hello", timeout: .seconds(60)) }
        try await daemon.start()
        let again = try await daemon.silent()
        #expect(try await waiting.value.objectValue?["program"] == "quickconnectd")
        let client = try daemon.connect()
        try await client.awaitCommand("lamp")
        #expect(try await client.value("lamp", []) == "on")
        #expect(try await again.ask("call?cmd=ping&id=1") == "handleJSONRequest?cmd=ping&msg=null&id=1")
        _ = try await client.value("post", ["news", 5])
        var iterator = events.makeAsyncIterator()
        #expect(try await iterator.next()?.value == 5)
        lamp.cancel()
        await device.close()
    }

    @Test func `a daemon that is killed again and again leaves no call without an end`() async throws {
        let daemon = try await RestartedDaemon()
        let device = DeviceClient(socket: daemon.socket)
        let ends = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<150 {
                group.addTask {
                    // Sleeps, so that not all are made before the first kill.
                    if number % 7 == 0 { try await Task.sleep(for: .milliseconds(number * 2)) }
                    switch await self.failure({ () throws(CallFailure) in _ = try await device.call("commands") }) {
                    case nil, .connectionLost?: return true
                    default: return false
                    }
                }
            }
            for pause in [0, 15, 40] {
                // Sleeps while calls are made.
                try await Task.sleep(for: .milliseconds(pause))
                try await daemon.kill()
                try await daemon.start()
            }
            return try await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(ends.count == 150 && ends.allSatisfy { $0 })
        #expect(try await device.call("ping", timeout: .seconds(20)) == .null)
    }

    @Test func `closing ends everything, and what is asked later fails`() async throws {
        let daemon = try await DaemonProcess()
        let device = DeviceClient(socket: daemon.socket)
        let events = device.events("news")
        try await events.ready()
        let lamp = Task { await failure { () throws(CallFailure) in try await device.handle("lamp") { _ in 1 } } }
        try await daemon.connect().awaitCommand("lamp")
        let heard = Task { try await events.reduce(into: 0) { count, _ in count += 1 } }
        await device.close()
        await device.close()
        #expect(try await heard.value == 0)
        #expect(await lamp.value == nil)
        guard case .connectionLost? = await failure({ () throws(CallFailure) in _ = try await device.call("ping") })
        else {
            return #expect(Bool(false))
        }
        let late = device.events("news")
        #expect(await failure { () throws(CallFailure) in try await late.ready() } != nil)
        let client = try daemon.connect()
        try await eventually("the daemon knows") { try await !client.value("state", []).text.contains("lamp") }
    }

    @Test func `its thread ends with the last who has it`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        do {
            let device = DeviceClient(socket: daemon.socket)
            let events = device.events("weather")
            try await events.ready()
            #expect(try await client.value("state", []).text.contains("weather"))
        }
        try await eventually("its connection is gone") { try await !client.value("state", []).text.contains("weather") }
    }

    @Test func `the example runs`() async throws {
        let daemon = try await DaemonProcess()
        let example = try ChildProcess(
            Products.path("device-example"),
            environment: ["PATH": "/usr/bin:/bin", "QUICKCONNECT_SOCKET": daemon.socket]
        )
        let client = try daemon.connect()
        try await client.awaitCommand("brighten")
        #expect(try await client.value("brighten", [0.25]) == 0.25)
        #expect(try await client.failure("brighten", ["much"])["code"] == "invalid")
        try await eventually("it hears the bell and plays a sound") {
            _ = try await client.value("post", ["doorbell", ["door": "front"]])
            return daemon.simulatedSounds > 0
        }
        #expect(example.poll() == nil)
    }
}

extension DeviceTests {
    /// What a closure was told.
    private final class Told: Sendable {
        private let values = Mutex<[JSONValue]>([])
        var all: [JSONValue] { values.withLock { $0 } }
        func add(_ value: JSONValue) { values.withLock { $0.append(value) } }
    }

    @Test func `a value is told now and at each change, also over a restart, until the task ends`() async throws {
        let daemon = try await RestartedDaemon()
        let device = DeviceClient(socket: daemon.socket)
        let told = Told()
        try await device.set("innerProgress", 2)
        #expect(try await device.value("innerProgress") == 2)
        let watching = Task { try await device.value("innerProgress") { told.add($0) } }
        try await eventually("it has the present value") { told.all == [2] }
        #expect(try await device.set("innerProgress", 99) == 10)
        try await device.set("innerProgress", 10)
        try await device.set("innerProgress", 4)
        try await eventually("it has the changes: \(told.all)") { told.all == [2, 10, 4] }
        try await daemon.kill()
        try await daemon.start()
        try await eventually("it has the new daemon's: \(told.all)") { told.all == [2, 10, 4, 0] }
        try await device.set("innerProgress", 5)
        try await eventually("it goes on") { told.all.last == 5 }
        watching.cancel()
        try await watching.value
        #expect(try await device.add("innerProgress") == 6)
        #expect(try await device.value("innerProgress") == 6 && told.all.count == 5)
    }

    @Test func `events come to a closure, and posts go out`() async throws {
        let daemon = try await DaemonProcess()
        let device = DeviceClient(socket: daemon.socket)
        let told = Told()
        let listening = Task { try await device.on("doorbell") { data, name in told.add([.string(name), data]) } }
        try await eventually("it listens") {
            try await device.post("doorbell")
            return !told.all.isEmpty
        }
        try await device.post("doorbell", ["door": "front"])
        try await eventually("it has heard that") { told.all.last == ["doorbell", ["door": "front"]] }
        struct Mine: Error {}
        await #expect(throws: Mine.self) { try await device.value("innerProgress") { _ in throw Mine() } }
        listening.cancel()
        try await listening.value
    }

    @Test func `what is no value, or does not fit, is refused, and a closed device ends all`() async throws {
        let daemon = try await DaemonProcess()
        let device = DeviceClient(socket: daemon.socket)
        let refusals: [(String, () async throws -> Void)] = [
            ("notFound", { _ = try await device.value("inerProgress") }),
            ("notFound", { _ = try await device.value("stop") }),
            ("notFound", { try await device.value("stop") { _ in } }),
            ("unknownCommand", { try await device.set("inerProgress", 1) }),
            ("invalid", { try await device.set("innerProgress", "x") }),
            ("invalid", { try await device.set("innerProgress", .null) }),
            ("denied", { try await device.post("playState", 1) }),
            ("invalid", { try await device.on("doorbell", ["rate": 1]) { _, _ in } }),
        ]
        for (code, attempt) in refusals {
            let failure = await #expect(throws: CallFailure.self) { try await attempt() }
            #expect(failure?.code == code, "\(String(describing: failure))")
        }
        let watching = Task { try await device.value("innerProgress") { _ in } }
        #expect(try await device.value("innerProgress") == 0)
        await device.close()
        try await watching.value
        let late = await failure { () throws(CallFailure) in _ = try await device.value("innerProgress") }
        guard case .connectionLost = late else { return #expect(Bool(false), "\(String(describing: late))") }
    }
}
