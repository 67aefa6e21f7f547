import Foundation
import Glibc
import JSON
import QuickConnect
import TestRig
import Testing

@Suite("A reload and the settings")
struct ReloadedSettingsTests {
    /// The texts of the doctor's findings on the settings.
    private func findings(_ client: SocketClient) async throws -> [String] {
        let report = try await client.value("doctor", []).objectValue?["findings"]?.arrayValue ?? []
        return report.compactMap(\.objectValue).filter { $0["subject"] == "settings" }.map { JSONValue.object($0).text }
    }

    /// What the reload names. The shipped mappings may have warnings, too.
    private func restart(_ client: SocketClient) async throws -> JSONValue? {
        try await client.value("reload", []).objectValue?["restart"]
    }

    @Test func `names what a restart takes up, and the doctor does until it is done or undone`() async throws {
        let daemon = try await DaemonProcess(settings: "kiosk: {zoom: 2}")
        let client = try daemon.connect()
        #expect(try await restart(client) == nil)
        try daemon.folder.write("# Laid out otherwise.\nkiosk:\n  zoom: 2\n", to: "settings.yaml")
        #expect(try await restart(client) == nil)
        #expect(try await findings(client) == [])

        try FileManager.default.createDirectory(atPath: daemon.folder("settings.d"), withIntermediateDirectories: true)
        try daemon.folder.write("{kiosk: {cursor: false}, audit: false}", to: "settings.d/a.yaml")
        try daemon.folder.write("kiosk: {zoom: 3}", to: "settings.yaml")
        let keys: JSONValue = ["audit", "kiosk.cursor", "kiosk.zoom"]
        #expect(try await restart(client) == keys)
        let told = try await findings(client)
        #expect(told.count == 1 && told.first?.contains("audit, kiosk.cursor, kiosk.zoom") == true, "\(told)")

        try daemon.folder.remove("settings.d/a.yaml")
        try daemon.folder.write("kiosk: {zoom: 2}", to: "settings.yaml")
        #expect(try await restart(client) == nil)
        #expect(try await findings(client) == [])
        #expect(try await daemon.stop() == .status(0))
    }

    @Test func `a mistake in the settings keeps the mappings, too, and is told with theirs`() async throws {
        let folder = try TestFolder()
        let own = "ping: {parameters: [], view: []}\nreload: {business: [ReloadBCO]}\n"
        try folder.write(own, to: "own.yaml")
        let daemon = try await DaemonProcess(mappings: folder.path)
        let client = try daemon.connect()
        try folder.write(own + "hello: {business: [HelloBCO]}\n", to: "own.yaml")
        try daemon.folder.write("sockets: [{path: x, commands: [], group: no-such-group}]", to: "settings.yaml")
        client.send("call?cmd=reload&id=1")
        let reply = try await client.nextReply()
        #expect(reply?.code == "invalid" && reply?.message.contains("no group 'no-such-group'") == true)
        client.send("call?cmd=hello&id=2")
        #expect(try await client.nextReply()?.code == "unknownCommand")

        try folder.write(own + "hello: {business: [HelloBC]}\n", to: "own.yaml")
        try daemon.folder.write("zoom: 1", to: "settings.yaml")
        client.send("call?cmd=reload&id=3")
        let both = try await client.nextReply()?.message ?? ""
        #expect(both.contains("unknown key 'zoom'") && both.contains("unknown command object 'HelloBC'"), "\(both)")

        try folder.write(own + "hello: {business: [HelloBCO]}\n", to: "own.yaml")
        try daemon.folder.write("{}", to: "settings.yaml")
        #expect(try await client.value("reload", []) == .null)
        client.send("call?cmd=hello&id=4")
        #expect(try await client.nextReply()?.value.objectValue?["protocol"] == 1)
        #expect(try await daemon.stop() == .status(0))
    }
}
