import Foundation
import JSON
import Linux
import QuickConnect
import TestRig
import Testing

/// The doctor, also where no daemon can start: that is when people need it.
@Suite("The doctor", .serialized)
struct DoctorTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        // A machine without any sound.
        try "pcm.null { type null }\n".write(toFile: folder("asound.conf"), atomically: true, encoding: .utf8)
    }

    private func run(_ program: String, _ arguments: String...) async throws -> (
        exit: ChildProcess.Exit, output: String
    ) {
        try await ChildProcess.run(
            Products.path(program),
            arguments,
            environment: [
                "PATH": "/usr/bin:/bin", "HOME": folder("home"), "ALSA_CONFIG_PATH": folder("asound.conf"),
                "XDG_RUNTIME_DIR": folder("run"), "QUICKCONNECT_SOCKET": folder("socket"),
                "QUICKCONNECT_MEDIA": folder("media"), "QUICKCONNECT_MAPPINGS": Products.root + "/mappings",
            ]
        )
    }

    private func findings(_ output: String) throws -> [String: Finding] {
        let report = try #require(DoctorReport(try JSONParser.parse(output)))
        return Dictionary(report.findings.map { ($0.subject, $0) }) { first, _ in first }
    }

    @Test func `without a daemon and without sound it says what is missing, and what fixes it`() async throws {
        let result = try await run("quickconnectd", "--doctor", "--json")
        #expect(result.exit == .status(1))
        let findings = try findings(result.output)
        for subject in ["speaker", "microphone"] {
            let finding = try #require(findings[subject])
            #expect(finding.state == .error && finding.fix ?? finding.inspect != nil && !finding.tried.isEmpty)
            #expect(finding.says.contains("default") && finding.says.contains("snd_pcm_open"))
        }
        #expect(findings["settings"]?.state == .ok && findings["mappings"]?.state == .ok)
        #expect(findings["mappings"]?.says.hasSuffix(" commands, in \(Products.root)/mappings") == true)
        #expect(findings["daemon"]?.state == .warning && findings["media folder"]?.state == .warning)
        let table = try await run("quickconnectd", "--doctor")
        #expect(table.output.contains("speaker ") && table.output.contains("error  "))
        #expect(table.output.hasSuffix("Problems found.\n"))
    }

    @Test func `what the settings record is a finding while no service does it`() async throws {
        let daemon = try await DaemonProcess(settings: "record: [{event: doorbell}]\n")
        let client = try daemon.connect()
        func finding() async throws -> Finding? {
            DoctorReport(try await client.value("doctor", []))?.findings.first { $0.subject == "data" }
        }
        let data = try #require(try await finding())
        #expect(data.state == .warning && data.says.hasPrefix("nothing records doorbell") && data.fix != nil)
        _ = try await client.value("registerHandler", ["data"])
        #expect(try await finding() == nil)
    }

    @Test func `simulated, all is well`() async throws {
        let result = try await run("quickconnectd", "--simulate", "--doctor")
        #expect(result.exit == .status(0) && result.output.hasSuffix("No problems found.\n"))
    }

    @Test func `a mistake in the settings or mappings is a finding, and the devices are looked at all the same`()
        async throws
    {
        try "sound: x\n".write(toFile: folder("bad.yaml"), atomically: true, encoding: .utf8)
        let settings = try findings(
            try await run("quickconnectd", "--doctor", "--json", "--config", folder("bad.yaml")).output
        )
        #expect(settings["settings"]?.state == .error && settings["settings"]?.fix == "sudoedit \(folder("bad.yaml"))")
        #expect(settings["settings"]?.tried.first?.contains("did you mean 'sounds'?") == true)
        #expect(settings["speaker"]?.state == .error)

        try FileManager.default.createDirectory(atPath: folder("maps"), withIntermediateDirectories: true)
        try "x:\n  view: [NoSuchVCO]\n".write(toFile: folder("maps/x.yaml"), atomically: true, encoding: .utf8)
        let mappings = try findings(
            try await run("quickconnectd", "--doctor", "--json", "--mappings", folder("maps")).output
        )
        #expect(
            mappings["mappings"]?.state == .error && mappings["mappings"]?.fix == "sudoedit \(folder("maps/x.yaml"))"
        )
    }

    @Test func `the client runs the daemon's doctor where no daemon answers`() async throws {
        let result = try await run("quickconnect", "doctor", "--json")
        #expect(result.exit == .status(1))
        let findings = try findings(result.output)
        let daemon = try #require(findings["daemon"])
        #expect(daemon.state == .error && daemon.says.contains(folder("socket")))
        #expect(daemon.fix == (ServiceManager.isRunning ? "sudo systemctl start quickconnectd" : "quickconnectd"))
        #expect(findings["speaker"]?.state == .error)
        #expect(try await run("quickconnect", "doctor", "nonsense").exit == .status(2))
    }

    @Test func `asked over the socket it answers for the daemon`() async throws {
        let daemon = try await DaemonProcess()
        let result = try await daemon.client("doctor")
        #expect(result.exit == .status(0) && result.output.contains("quickconnectd \(ProjectVersion.text) runs as"))
        #expect(result.output.contains("(simulated)"))
        let part = try await daemon.client("doctor", "daemon")
        #expect(part.exit == .status(0) && part.output.hasPrefix("daemon  ok ") && !part.output.contains("speaker"))
        let child = try daemon.startClient(["doctor", "nonsense"])
        #expect(try await child.wait() == .status(2))
        let mistake = String(decoding: child.standardError, as: UTF8.self)
        #expect(
            mistake.contains("has no line about 'nonsense', but about daemon, ") && mistake.contains("'media folder'")
        )
        let client = try daemon.connect()
        let report = try await client.value("doctor", [])
        #expect(report.objectValue?["ok"] == true)
        let own = DoctorReport(report)?.findings.first { $0.subject == "daemon" }
        #expect(own?.says.hasSuffix(", with the mappings in \(Products.root)/mappings") == true)
        client.send("call?cmd=doctor&msg=heart&id=1")
        #expect(try await client.nextReply()?.code == "invalid")
    }
}
