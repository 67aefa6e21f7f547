import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// The real picker with a real daemon, told what to answer.
@Suite("The pickers, simulated")
struct SimulatedPickerTests {
    @Test func `nobody who picks is unavailable, with what starts the picker`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        for (command, parameters) in [("showDate", ["Date"] as JSONValue), ("showList", ["Colour", "red"])] {
            let error = try await client.failure(command, parameters)
            #expect(error["code"] == "unavailable")
            #expect(error["message"]?.stringValue?.contains("systemctl --user start quickconnect-picker") == true)
        }
        #expect(try await client.failure("showDate", ["Month"])["code"] == "invalid")
    }

    @Test func `each kind answers the book's text and ISO 8601, whatever the language and the time zone`() async throws
    {
        let daemon = try await DaemonProcess()
        let picker = try await PickerProcess(
            daemon.socket,
            "--answer",
            "2027-03-04 05:09",
            environment: ["LC_ALL": "fa_IR.UTF-8", "LANG": "de_DE.UTF-8", "TZ": "Asia/Kolkata"]
        )
        let client = try daemon.connect()
        let noon = "2027-03-04 12:00:00 +0530"
        #expect(try await client.value("showDate", ["Date"]) == [.string(noon), "2027-03-04"])
        let both: JSONValue = ["2027-03-04 05:09:00 +0530", "2027-03-04T05:09:00+05:30"]
        #expect(try await client.value("showDate", ["DateTime"]) == both)
        #expect(try await client.value("showDate", []) == both)
        let time = try await client.value("showDate", ["Time"]).arrayValue ?? []
        #expect(time.last == "05:09" && time.first?.stringValue?.hasSuffix(" 05:09:00 +0530") == true)
        // Without an id, as a page of the book calls, and as a text of the bridge.
        client.send("call?cmd=showDate&msg=Date")
        let reply = try await client.nextReply()
        #expect(reply?.command == "showPickResults" && reply?.value == [.string(noon), "2027-03-04"])
        client.send(#"{"handlerName":"showDate","data":"Date","callbackId":"1"}"#)
        #expect(
            try await client.next()
                == #"{"responseId":"1","responseData":["\#(noon)","2027-03-04"],"handlerName":"showPickResults"}"#
        )
        #expect(try await client.failure("showList", ["Colour", "red"])["code"] == "unavailable")
        #expect(try await picker.stop() == .status(0))
    }

    @Test(arguments: [
        "2027-02-30 10:00", "2027-13-01 10:00", "2027-03-04 24:00", "2027-03-04", "next week", "1-2-3-4 5:6",
    ])
    func `what is no date and time is no answer`(text: String) async throws {
        let daemon = try await DaemonProcess()
        let picker = try await PickerProcess(daemon.socket, "--answer", text)
        #expect(try await daemon.connect().failure("showDate", ["DateTime"])["code"] == "unavailable")
        withExtendedLifetime(picker) {}
    }

    @Test func `a minute that the clock leaves out becomes one beside it, on that day`() async throws {
        let daemon = try await DaemonProcess()
        let zones = ["Europe/Berlin": "2027-03-28 02:30", "America/Asuncion": "2024-10-06 00:30"]
        for (zone, text) in zones {
            let picker = try await PickerProcess(daemon.socket, "--answer", text, environment: ["TZ": zone])
            let answer = try await daemon.connect().value("showDate", ["DateTime"]).arrayValue ?? []
            #expect(answer.last?.stringValue?.hasPrefix(text.prefix(10)) == true, "\(zone): \(answer)")
            #expect(try await picker.stop() == .status(0))
        }
    }

    @Test func `an empty answer is cancel, and a list answers the item and its number`() async throws {
        let daemon = try await DaemonProcess()
        let cancelling = try await PickerProcess(daemon.socket, "--answer", "")
        let client = try daemon.connect()
        #expect(try await client.failure("showDate", ["Date"])["code"] == "cancelled")
        #expect(try await cancelling.stop() == .status(0))
        let picker = try await PickerProcess(daemon.socket, "--answer", "green")
        #expect(try await client.value("showList", ["Colour", "red", "green"]) == ["green", 1])
        for (parameters, field) in [
            (["Colour"] as JSONValue, "/1"), (["Colour", "red", ""], "/2"), (["a\nb", "red"], "/0"),
            (["Colour", "red", "red"], "/1"), (["Colour", 7], "/1"),
        ] {
            let error = try await client.failure("showList", parameters)
            #expect(error["code"] == "invalid", "\(parameters)")
            #expect(JSONValue.object(error).text.contains("\"\(field)\""), "\(error)")
        }
        #expect(try await picker.stop() == .status(0))
    }

    @Test func `what a page's own picker has chosen is shown as the book does`() async throws {
        let daemon = try await DaemonProcess()
        let client = try daemon.connect()
        client.send("call?cmd=sendPickResults&msg=%5B%22red%22%2C1%5D")
        let reply = try await client.nextReply()
        #expect(reply?.command == "showPickResults" && reply?.value == ["red", 1])
    }

    @Test func `a handler of anybody's that answers a text is shown under showPickResults`() async throws {
        let daemon = try await DaemonProcess()
        let (handler, client) = (try daemon.connect(), try daemon.connect())
        _ = try await handler.ask(#"{"handlerName":"registerHandler","data":["showDate"],"callbackId":"1"}"#)
        client.send("call?cmd=showDate&msg=Date&id=1")
        _ = try await handler.next()
        handler.send(#"{"responseId":"q1","responseData":"today"}"#)
        let reply = try await client.nextReply()
        #expect(reply?.command == "showPickResults" && reply?.value == ["today"] && reply?.id == "1")
    }

    @Test(.enabled(if: OtherUser.isPossible, "only root can connect as another user"))
    func `who is not in the group may call, and may not answer`() async throws {
        let daemon = try await DaemonProcess()
        let stranger = try daemon.stranger()
        let error = try await stranger.failure("registerHandler", ["showDate"])
        #expect(error["code"] == "denied" && error["message"]?.stringValue?.contains("quickconnect") == true)
        let picker = try await PickerProcess(daemon.socket, "--answer", "2027-03-14")
        #expect(try await stranger.value("showDate", ["Date"]).arrayValue?.last == "2027-03-14")
        withExtendedLifetime(picker) {}
    }

    @Test func `without a daemon it says at once that it waits for one`() async throws {
        let folder = try TestFolder()
        let picker = try PickerProcess(folder("socket"), ["--simulate"])
        try await eventually("it says so: \(picker.log)") {
            picker.log.contains("no daemon answers: \(folder("socket"))") && picker.log.contains("; waiting for one")
        }
        #expect(try await picker.stop() == .status(0))
    }

    @Test func `a second picker waits until the first has gone`() async throws {
        let daemon = try await DaemonProcess()
        let first = try await PickerProcess(daemon.socket, "--answer", "2027-01-01")
        let second = try PickerProcess(daemon.socket, ["--answer", "2027-02-02"])
        try await eventually("the second waits: \(second.log)") { second.log.contains("waits until showDate is free") }
        #expect(try await first.stop() == .status(0))
        try await second.awaitReady(daemon.socket)
        #expect(try await daemon.connect().value("showDate", ["Date"]).arrayValue?.last == "2027-02-02")
    }

    @Test func `it ends with status 1 without a display, and with 2 where it is called wrongly`() async throws {
        let daemon = try await DaemonProcess()
        for (flags, variables, words) in [
            ([], [:], "neither WAYLAND_DISPLAY nor DISPLAY is set"),
            (["--display", ":4711"], [:], "no display answers at :4711"),
            ([], ["WAYLAND_DISPLAY": "wayland-77", "XDG_RUNTIME_DIR": "/nowhere"], "no display answers at wayland-77"),
        ] as [([String], [String: String], String)] {
            let picker = try PickerProcess(daemon.socket, flags, environment: variables)
            #expect(try await picker.process.wait() == .status(1))
            #expect(picker.log.contains(words), "\(picker.log)")
        }
        for flags in [["--log-level", "loud"], ["--nonsense"], ["more"]] {
            let picker = try PickerProcess(daemon.socket, flags)
            #expect(try await picker.process.wait() == .status(2))
        }
    }

    @Test func `it finds a daemon that comes later, and one that was started again`() async throws {
        let daemon = try await RestartedDaemon()
        try await daemon.kill()
        let picker = try PickerProcess(daemon.socket, ["--answer", "2027-03-14"])
        for _ in 0..<2 {
            try await daemon.start()
            try await picker.awaitReady(daemon.socket)
            #expect(try await daemon.connect().value("showDate", ["Date"]).arrayValue?.last == "2027-03-14")
            try await daemon.kill()
        }
        #expect(try await picker.stop() == .status(0))
    }
}

/// The same with dialogs that a hand answers.
@Suite(
    "The pickers on a display",
    .enabled(if: VirtualDisplay.isPossible, "of \(VirtualDisplay.programs.joined(separator: ", ")) one is missing"),
    .timeLimit(.minutes(5))
)
struct PickerTests {
    private struct Scene {
        let display: VirtualDisplay
        let daemon: DaemonProcess
        let picker: PickerProcess

        /// - Parameter typed: what is typed in the first dialogs, which are not opened: a busy machine loses keys.
        init(
            only program: String? = nil,
            typed: [String] = [],
            environment: [String: String] = [:]
        ) async throws {
            display = try await VirtualDisplay()
            daemon = try await DaemonProcess()
            var variables = display.environment.merging(environment) { _, last in last }
            if let program {
                // A machine that has only that one.
                let script = """
                    #!/bin/sh
                    for text in \(typed.joined(separator: " ")); do
                      [ -e "$0.$text" ] || { : >"$0.$text"; echo "$text"; exit; }
                    done
                    exec /usr/bin/\(program) "$@"
                    """
                try daemon.folder.write(script, to: program)
                chmod(daemon.folder(program), 0o755)
                variables["PATH"] = daemon.folder.path
            }
            picker = try await PickerProcess(daemon.socket, environment: variables)
        }
    }

    private func today(_ format: String) -> String {
        let formatter = DateFormatter()
        (formatter.locale, formatter.timeZone) = (Locale(identifier: "en_US_POSIX"), TimeZone(identifier: "UTC"))
        formatter.dateFormat = format
        return formatter.string(from: Date())
    }

    @Test(arguments: [[:], ["LC_ALL": "C.UTF-8", "LANGUAGE": "de:fa", "LANG": "de_DE.UTF-8"]])
    func `OK answers today, where nobody chooses another day`(environment: [String: String]) async throws {
        let scene = try await Scene(environment: environment)
        let caller = try scene.daemon.connect()
        let before = today("yyyy-MM-dd")
        caller.send("call?cmd=showDate&msg=Date&id=1")
        try await scene.display.answer("^Choose a date$", keys: "Return")
        let reply = try await caller.nextReply()
        #expect(reply?.command == "showPickResults" && reply?.id == "1")
        if before == today("yyyy-MM-dd") {
            #expect(reply?.value == [.string("\(before) 12:00:00 +0000"), .string(before)])
        }
        #expect(try await scene.picker.stop() == .status(0))
    }

    @Test func `Escape is cancelled, and the next dialog opens`() async throws {
        let scene = try await Scene()
        let caller = try scene.daemon.connect()
        for _ in 0..<2 {
            caller.send("call?cmd=showDate&msg=Date&id=1")
            try await scene.display.answer("^Choose a date$", keys: "Escape")
            #expect(try await caller.nextReply()?.code == "cancelled")
        }
    }

    @Test func `zenity alone asks for a date and a time, again where that is none`() async throws {
        let scene = try await Scene(only: "zenity", typed: ["noonish", "07:05"])
        let caller = try scene.daemon.connect()
        caller.send("call?cmd=showDate&msg=Time&id=1")
        #expect(try await caller.nextReply()?.value.arrayValue?.last == "07:05")
        caller.send("call?cmd=showDate&msg=DateTime&id=2")
        try await scene.display.answer("^Choose a date and a time$", keys: "Escape")
        #expect(try await caller.nextReply()?.code == "cancelled")
    }

    @Test(.enabled(if: ChildProcess.isInstalled("yad"), "yad is missing"))
    func `yad's fields for hours and minutes are read`() async throws {
        let scene = try await Scene(only: "yad")
        let caller = try scene.daemon.connect()
        for (kind, title) in [("DateTime", "^Choose a date and a time$"), ("Time", "^Choose a time$")] {
            caller.send("call?cmd=showDate&msg=\(kind)&id=1")
            try await scene.display.answer(title, keys: "Return")
            let answer = try await caller.nextReply()?.value.arrayValue ?? []
            let text = answer.first?.stringValue ?? ""
            #expect(text.wholeMatch(of: /\d{4}-\d\d-\d\d \d\d:\d\d:00 \+0000/) != nil, "\(answer)")
            let iso = String(text.prefix(16)).replacing(" ", with: "T") + ":00+00:00"
            #expect(answer.last?.stringValue == (kind == "Time" ? String(text.dropFirst(11).prefix(5)) : iso))
        }
    }

    @Test func `a list answers the item, also one that looks like an option or like markup`() async throws {
        let scene = try await Scene()
        let caller = try scene.daemon.connect()
        let items: [JSONValue] = ["-red", "<b>|green&", "blue"]
        caller.send(
            #"{"handlerName":"showList","data":\#(JSONValue.array(["Colour & <so>"] + items).text),"callbackId":"1"}"#
        )
        _ = try await scene.display.focus("^Colour")
        // Sleeps while it begins to listen to keys; without the first of them it answers another item.
        try await Task.sleep(for: .milliseconds(700))
        try await scene.display.hand("key", "Down")
        try await scene.display.answer("^Colour", keys: "Return")
        let reply = try #require(try await caller.nextMessage())
        let chosen = reply["responseData"]?.arrayValue ?? []
        let number = Int(chosen.last?.integerValue ?? -1)
        #expect(items.indices.contains(number) && chosen.first == items[number], "\(reply)")
    }

    @Test func `one dialog at a time, whichever picker's`() async throws {
        let scene = try await Scene()
        let (first, second) = (try scene.daemon.connect(), try scene.daemon.connect())
        first.send("call?cmd=showDate&msg=Date&id=1")
        _ = try await scene.display.focus("^Choose a date$")
        for (command, parameters) in [("showDate", ["Time"] as JSONValue), ("showList", ["Colour", "red"])] {
            #expect(try await second.failure(command, parameters)["code"] == "busy")
        }
        try await scene.display.answer("^Choose a date$", keys: "Escape")
        #expect(try await first.nextReply()?.code == "cancelled")
    }

    @Test(arguments: ["close", "cancel", "kill the picker"])
    func `the dialog closes with its caller, and with the picker`(end: String) async throws {
        let scene = try await Scene()
        let caller = try scene.daemon.connect()
        caller.send("call?cmd=showDate&msg=Date&id=1")
        _ = try await scene.display.focus("^Choose a date$")
        switch end {
        case "close": caller.close()
        case "cancel":
            _ = try await caller.ask("call?cmd=cancel&msg=1")
        default:
            scene.picker.process.send(SIGKILL)
            #expect(try await caller.nextReply()?.code == "scriptFailed")
        }
        try await scene.display.awaitNone("^Choose a date$")
        guard end != "kill the picker" else { return }
        // The next one may open.
        let next = try scene.daemon.connect()
        next.send("call?cmd=showDate&msg=Date&id=2")
        try await scene.display.answer("^Choose a date$", keys: "Escape")
        #expect(try await next.nextReply()?.code == "cancelled")
    }

    @Test func `a call that ends before its dialog has begun leaves none`() async throws {
        let scene = try await Scene()
        let caller = try scene.daemon.connect()
        for id in 1...20 {
            caller.send("call?cmd=showDate&msg=Date&id=\(id)")
            // Later with each one, from before the picker has the call until its process begins.
            for _ in 0..<id { #expect(try await scene.daemon.connect().reply("ping", nil).value == .null) }
            caller.send("call?cmd=cancel&msg=\(id)")
            let reply = try #require(try await caller.nextReply())
            #expect(reply.code == "cancelled", "\(id): \(reply.code ?? "") \(reply.message)")
        }
        // None is left that would be `busy` for the next one, or lie over it.
        let next = try scene.daemon.connect()
        next.send("call?cmd=showDate&msg=Date&id=next")
        try await scene.display.answer("^Choose a date$", keys: "Escape")
        #expect(try await next.nextReply()?.code == "cancelled")
        try await scene.display.awaitNone("^Choose a date$")
    }

    @Test func `SIGTERM closes the dialog, and its caller is answered`() async throws {
        let scene = try await Scene()
        let caller = try scene.daemon.connect()
        caller.send("call?cmd=showDate&msg=Date&id=1")
        _ = try await scene.display.focus("^Choose a date$")
        #expect(try await scene.picker.stop() == .status(0))
        #expect(try await caller.nextReply()?.code == "unavailable")
        try await scene.display.awaitNone("^Choose a date$")
    }

    @Test func `a display that goes is told to the caller, and ends the picker`() async throws {
        let scene = try await Scene()
        let caller = try scene.daemon.connect()
        caller.send("call?cmd=showDate&msg=Date&id=1")
        _ = try await scene.display.focus("^Choose a date$")
        try await scene.display.end()
        let reply = try await caller.nextReply()
        #expect(reply?.code == "unavailable" && reply?.id == "1")
        #expect(try await scene.picker.process.wait() == .status(1))
    }

    @Test func `a dialog closes when the daemon is killed, and the next daemon's opens`() async throws {
        let display = try await VirtualDisplay()
        let daemon = try await RestartedDaemon()
        let picker = try await PickerProcess(daemon.socket, environment: display.environment)
        let caller = try daemon.connect()
        caller.send("call?cmd=showDate&msg=Date&id=1")
        _ = try await display.focus("^Choose a date$")
        try await daemon.kill()
        try await display.awaitNone("^Choose a date$")
        try await daemon.start()
        try await picker.awaitReady(daemon.socket)
        let next = try daemon.connect()
        next.send("call?cmd=showDate&msg=Date&id=2")
        try await display.answer("^Choose a date$", keys: "Escape")
        #expect(try await next.nextReply()?.code == "cancelled")
    }
}
