import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// The screen of a session, by programs that stand for those of the desktop, and remember what they were told.
@Suite("The screen")
struct ScreenTests {
    /// An X server with one monitor, a touch screen on it, and a monitor that hears by its cable. Each program keeps what it
    /// is told in a file of its name.
    private static let programs = [
        "xset": """
        [ "$1 $2" != "dpms force" ] || echo "$3" >"$0.state"
        case $(cat "$0.state") in off) echo "Monitor is Off" ;; *) echo "Monitor is On" ;; esac
        echo "DPMS (Energy Star):"
        """,
        "xrandr": """
        [ "$1" = --query ] || echo "$4" >"$0.state"
        turned=$(cat "$0.state"); [ "$turned" != normal ] || turned=
        echo "Screen 0: minimum 64 x 64"
        echo "DP-1 disconnected (normal left inverted right x axis y axis)"
        echo "HDMI-1 connected primary 1920x1080+0+0 $turned (normal left inverted right x axis y axis) 527mm x 296mm"
        """,
        "xinput": """
        case $1 in
          map-to-output) echo "$2 $3" >"$0.state" ;;
          list) case $2 in --id-only) printf '2\\n7\\n∼ 9\\n' ;; *) [ "$3" != 7 ] || echo "Touch mode: direct" ;; esac ;;
        esac
        """,
        "ddcutil": """
        [ "$1" != setvcp ] || echo "$3" >"$0.state"
        [ "$1" = setvcp ] || echo "VCP 10 C $(cat "$0.state") 80"
        """,
        "notify-send": """
        printf '<%s>' "$@" >"$0.state"
        """,
    ]

    private let folder: TestFolder
    private let daemon: DaemonProcess

    init() async throws {
        (folder, daemon) = (try TestFolder(), try await DaemonProcess())
    }

    /// A session with some of the programs, on a display that answers.
    private func session(_ programs: [String], state: [String: String] = [:]) async throws -> PickerProcess {
        try FileManager.default.createDirectory(atPath: folder("bin"), withIntermediateDirectories: true)
        for name in programs {
            try folder.write("#!/bin/sh\n\(Self.programs[name] ?? "")\n", to: "bin/\(name)")
            try folder.write(state[name] ?? "", to: "bin/\(name).state")
            chmod(folder("bin/\(name)"), 0o755)
        }
        for tool in ["cat", "printf"] { symlink("/bin/\(tool)", folder("bin/\(tool)")) }
        let display = try await Self.display.value.name
        let picker = try PickerProcess(
            daemon.socket,
            ["--display", display, "--backlights", folder("backlight")],
            environment: ["PATH": folder("bin")]
        )
        try await picker.awaitReady(daemon.socket)
        return picker
    }

    private static let display = Task { try await VirtualDisplay() }

    private func told(_ program: String) throws -> String {
        try String(contentsOfFile: folder("bin/\(program).state"), encoding: .utf8).trimmingCharacters(in: .newlines)
    }

    @Test func `a simulated one remembers what it is told, and tells all who listen`() async throws {
        let (client, other) = (try daemon.connect(), try daemon.connect())
        #expect(try await client.failure("screen", [])["code"] == "unavailable")
        let picker = try await PickerProcess(daemon.socket, "--simulate")
        #expect(try await client.value("screen", []) == ["on": true, "brightness": 100.0, "rotation": 0])
        _ = try await other.value("subscribe", ["screenState"])
        let night: JSONValue = ["on": false, "brightness": 30.0, "rotation": 90]
        #expect(try await client.value("screen", [["on": false, "brightness": 30, "rotation": 90]]) == night)
        #expect(try await other.nextReply()?.value == night)
        for (changes, field) in [
            (["on": 1], "/0/on"), (["brightness": 101], "/0/brightness"), (["rotation": 45], "/0/rotation"),
            (["rotated": 90], "/0/rotated"), ([:], "/0"), (["ways": true, "on": false], "/0"),
        ] as [(JSONValue, String)] {
            let error = try await client.failure("screen", [changes])
            #expect(error["code"] == "invalid" && JSONValue.object(error).text.contains("\"\(field)\""), "\(error)")
        }
        #expect(try await picker.stop() == .status(0))
    }

    @Test(.enabled(if: VirtualDisplay.isPossible, "Xvfb, xdotool or zenity is not installed"))
    func `an X server is switched and turned, with what is touched, and a monitor dimmed by its cable`() async throws {
        let picker = try await session(["xset", "xrandr", "xinput", "ddcutil"], state: ["ddcutil": "40"])
        let client = try daemon.connect()
        #expect(try await client.value("screen", []) == ["on": true, "brightness": 50.0, "rotation": 0])
        let off = try await client.value("screen", [["on": false, "rotation": 270, "brightness": 25]])
        #expect(off == ["on": false, "brightness": 25.0, "rotation": 270])
        #expect(try told("xrandr") == "left" && told("xinput") == "7 HDMI-1" && told("ddcutil") == "20")
        #expect(try await client.value("screen", [["on": true]]).objectValue?["on"] == true)
        #expect(try await picker.stop() == .status(0))
    }

    @Test(.enabled(if: VirtualDisplay.isPossible, "Xvfb, xdotool or zenity is not installed"))
    func `a panel's own light comes before a monitor's, and is never put out`() async throws {
        for (device, type) in [("acpi0", "raw"), ("panel", "platform")] {
            let path = folder("backlight/\(device)")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try folder.write("\(type)\n", to: "backlight/\(device)/type")
            try folder.write("7\n", to: "backlight/\(device)/brightness")
            try folder.write("15\n", to: "backlight/\(device)/max_brightness")
        }
        let picker = try await session(["ddcutil"], state: ["ddcutil": "40"])
        let client = try daemon.connect()
        #expect(try await client.value("screen", []) == ["brightness": 47.0])
        #expect(try await client.value("screen", [["brightness": 80]]) == ["brightness": 80.0])
        #expect(try await client.value("screen", [["brightness": 0]]) == ["brightness": 7.0])
        let level = try String(contentsOfFile: folder("backlight/panel/brightness"), encoding: .utf8)
        #expect(level.hasPrefix("1"))
        #expect(try told("ddcutil") == "40")
        let doctor = try await ChildProcess.run(
            Products.path("quickconnect"),
            ["doctor", "screen", "--socket", daemon.socket]
        )
        let words = doctor.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(
            words == """
                screen warning brightness by the backlight; no way to on (X server: xset is not installed (apt install \
                x11-xserver-utils)); no way to rotation (X server: xrandr is not installed (apt install x11-xserver-utils)) No \
                problems found.
                """
        )
        // What nothing here can do is told with the reason of each way.
        let error = try await client.failure("screen", [["on": false]])
        let message = try #require(error["message"]?.stringValue)
        #expect(error["code"] == "unavailable")
        #expect(message.contains("X server: xset is not installed (apt install x11-xserver-utils)"), "\(message)")
        #expect(try await picker.stop() == .status(0))
    }

    @Test(.enabled(if: VirtualDisplay.isPossible, "Xvfb, xdotool or zenity is not installed"))
    func `what was asked for and has not come about is no answer`() async throws {
        let picker = try await session(["xset", "xrandr"])
        // As a server whose driver ignores it.
        try folder.write("#!/bin/sh\necho 'DPMS (Energy Star):'; echo 'Monitor is On'\n", to: "bin/xset")
        let client = try daemon.connect()
        let error = try await client.failure("screen", [["on": false]])
        let message = try #require(error["message"]?.stringValue)
        #expect(error["code"] == "unavailable")
        #expect(message.hasSuffix("X server: it has been asked, and on is still true"), "\(message)")
        // What one program lacks takes nothing from the others.
        try folder.write("#!/bin/sh\nexit 1\n", to: "bin/xrandr")
        #expect(try await client.value("screen", []) == ["on": true])
        #expect(try await client.failure("screen", [["rotation": 90]])["code"] == "unavailable")
        #expect(try await picker.stop() == .status(0))
    }

    @Test(
        .enabled(if: VirtualDisplay.isPossible, "Xvfb, xdotool or zenity is not installed"),
        arguments: [
            ("ddcutil", "echo 'VCP 10 C 5 1e300'", "brightness"), ("ddcutil", "echo 'VCP 10 C 9 0'", "brightness"),
            ("ddcutil", "echo 'VCP 10 C nan 100'", "brightness"), ("ddcutil", "echo; echo 'VCP 10 ERR'", "brightness"),
            ("xrandr", "echo '(x connected 1x+'", "rotation"), ("xrandr", "echo 'a connected 1x1+0'", "rotation"),
            ("xset", "echo 'DPMS (Energy Star):'; echo Server does not have the DPMS Extension", "on"),
        ]
    )
    func `what a program says and no screen is like ends nothing`(program: String, text: String, part: String)
        async throws
    {
        let picker = try await session([program])
        try folder.write("#!/bin/sh\n\(text)\n", to: "bin/\(program)")
        let client = try daemon.connect()
        let value: JSONValue = part == "on" ? false : 90
        for changes in [[], [.object([part: value])]] as [[JSONValue]] {
            let error = try await client.failure("screen", .array(changes))
            #expect(error["code"] == "unavailable", "\(error)")
        }
        #expect(try await picker.stop() == .status(0))
    }

    @Test(.enabled(if: VirtualDisplay.isPossible, "Xvfb, xdotool or zenity is not installed"))
    func `a notification is what was sent, whatever signs are in it`() async throws {
        let picker = try await session(["notify-send"])
        let client = try daemon.connect()
        try await eventually("it answers") { try await client.failure("notify", ["\n"])["code"] == "invalid" }
        #expect(try await client.value("notify", ["-x <b>"]) == .null)
        #expect(try told("notify-send") == "<--app-name=QuickConnect><--><-x <b>>")
        #expect(try await client.value("notify", [#"a\n <b> & c"#, ["title": "Door"]]) == .null)
        #expect(try told("notify-send") == #"<--app-name=QuickConnect><--><Door><a\\n &lt;b&gt; &amp; c>"#)
        try folder.write("#!/bin/sh\necho no place >&2; exit 1\n", to: "bin/notify-send")
        let error = try await client.failure("notify", ["x"])
        #expect(
            error["code"] == "unavailable" && error["message"]?.stringValue?.hasSuffix("no place") == true,
            "\(error)"
        )
        #expect(try await picker.stop() == .status(0))
    }

    @Test(
        .enabled(
            if: VirtualDisplay.isPossible && FileManager.default.isExecutableFile(atPath: "/usr/bin/import"),
            "Xvfb, xdotool, zenity or imagemagick is not installed"
        )
    )
    func `a picture is what the screen shows, as a file that takes the place of the one before`() async throws {
        let display = try await Self.display.value.name
        let picker = try PickerProcess(
            daemon.socket,
            ["--display", display],
            environment: ["XDG_RUNTIME_DIR": folder.path]
        )
        try await picker.awaitReady(daemon.socket)
        let client = try daemon.connect()
        try await eventually("it answers") {
            try await client.failure("screenshot", [["file": "x"]])["code"] == "invalid"
        }
        let whole = try #require(try await client.value("screenshot", []).objectValue)
        #expect(whole["file"] == "screenshot.png" && whole["bytes"]?.integerValue ?? 0 > 60, "\(whole)")
        let width = try #require(whole["width"]?.integerValue)
        let half = try await client.value("screenshot", [["width": .integer(width / 2)]])
        #expect(half.objectValue?["width"] == .integer(width / 2) && half.objectValue?["file"] == "screenshot.png")
        let larger = try await client.value(
            "screenshot",
            [["width": .integer(width * 2), "file": "large.png", "shared": true]]
        )
        #expect(larger.objectValue?["width"] == .integer(width) && larger.objectValue?["height"] == whole["height"])
        let files = try await client.value("media", []).arrayValue?.compactMap(\.objectValue) ?? []
        #expect(files.map { $0["name"] } == ["large.png", "screenshot.png"])
        #expect(files.map { $0["bytes"] } == [larger.objectValue?["bytes"], half.objectValue?["bytes"]])
        #expect(files.map { $0["shared"] } == [true, nil])
        // Nothing is left of what was made on the way.
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.contains("screenshot") }
        #expect(left.isEmpty)
        // Nor, from the next start on, of what a kill leaves.
        try FileManager.default.createDirectory(
            atPath: folder("quickconnect-screenshot-x"),
            withIntermediateDirectories: false
        )
        try folder.write("private", to: "quickconnect-screenshot-x/picture.png")
        let next = try PickerProcess(daemon.socket, ["--simulate"], environment: ["XDG_RUNTIME_DIR": folder.path])
        try await eventually("it is gone") {
            !FileManager.default.fileExists(atPath: folder("quickconnect-screenshot-x"))
        }
        #expect(try await next.stop() == .status(0))
        #expect(try await picker.stop() == .status(0))
    }

    @Test func `a kiosk's session has its window, and what answers for the screen where that is installed`()
        async throws
    {
        for path in ["usr/bin", "usr/lib/quickconnect"] {
            try FileManager.default.createDirectory(atPath: folder(path), withIntermediateDirectories: true)
        }
        let script = folder("usr/lib/quickconnect/kiosk-session")
        try FileManager.default.copyItem(atPath: Products.root + "/systemd/kiosk-session", toPath: script)
        func install(_ program: String, _ text: String) throws {
            try folder.write("#!/bin/sh\n\(text)\n", to: "usr/bin/\(program)")
            chmod(folder("usr/bin/\(program)"), 0o755)
        }
        try install("quickconnect-kiosk", "echo window $*")
        #expect(try await ChildProcess.run(script, ["--full-screen"]).output == "window --full-screen\n")
        let answers = folder("answers")
        try install("quickconnect-picker", "touch \(answers)")
        try install("quickconnect-kiosk", "until [ -e \(answers) ]; do sleep 0.05; done; echo both")
        // Its output ends with those that it has started, a moment later.
        let session = try ChildProcess(script, [])
        #expect(try await session.wait() == .status(0))
        try await eventually("both have run") { String(decoding: session.standardOutput, as: UTF8.self) == "both\n" }
    }
}
