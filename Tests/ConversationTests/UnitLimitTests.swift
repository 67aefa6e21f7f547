import Configuration
import Foundation
import Testing

/// What each unit may take of the machine, so that no service harms the others (docs/service.md).
@Suite("What the units may take")
struct UnitLimitTests {
    /// The settings of a unit's section [Service], the last one of each name.
    struct Unit: CustomTestStringConvertible {
        var name: String
        var settings: [String: String]

        var testDescription: String { name }
        func bytes(_ setting: String) -> Int? {
            let units: [Character: Int] = ["M": 20, "G": 30]
            guard let text = settings[setting], let shift = text.last.flatMap({ units[$0] }) else { return nil }
            return Int(text.dropLast()).map { $0 << shift }
        }
    }

    /// Those that end by themselves, that are not their own main process, or that only wait for people.
    static let withoutWatchdog: Set = [
        "quickconnect-sync", "user/quickconnect-sync", "quickconnect-kiosk", "user/quickconnect-picker",
        "quickconnect-undo-restore",
    ]

    static let units: [Unit] = ["", "user/"].flatMap { folder in
        let path = "\(Products.root)/systemd/\(folder)"
        let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return files.filter { $0.hasSuffix(".service") }.sorted().map { file in
            let text = (try? String(contentsOfFile: path + file, encoding: .utf8)) ?? ""
            let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") && $0.contains("=") }
            let pairs = lines.map { $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false) }
            let settings = Dictionary(pairs.map { (String($0[0]), String($0[1])) }) { $1 }
            return Unit(name: folder + file.dropLast(8), settings: settings)
        }
    }

    static func unit(_ name: String) throws -> Unit { try #require(units.first { $0.name == name }) }

    @Test(arguments: units)
    func `each has its limits, and none is stopped for a part of the time`(unit: Unit) {
        #expect(unit.bytes("MemoryMax") != nil)
        #expect(unit.settings["TasksMax"].flatMap { Int($0) } != nil)
        #expect(unit.settings["CPUWeight"].flatMap { Int($0) } != nil)
        #expect(unit.settings["CPUQuota"] == nil)
        let isWatched = !Self.withoutWatchdog.contains(unit.name)
        #expect((unit.settings["WatchdogSec"] != nil) == isWatched)
        // Else systemd does not hear it.
        let isHeard = unit.settings["Type"] == "notify" || unit.settings["NotifyAccess"] == "main"
        #expect(isHeard || !isWatched)
    }

    @Test(arguments: ["", "user/"])
    func `where all want the processor, callers come before scripts, and scripts before data`(folder: String) throws {
        let weights = try ["quickconnectd", "quickconnect-kiosk", "quickconnect-scripts", "quickconnect-data"].map {
            try #require(Self.unit(folder + $0).settings["CPUWeight"].flatMap { Int($0) })
        }
        #expect(weights == [200, 100, 50, 20])
    }

    @Test(arguments: ["", "user/"])
    func `what a service limits by itself is less than the kernel allows it`(folder: String) throws {
        #expect(try Self.unit(folder + "quickconnectd").bytes("MemoryMax") == 256 << 20)
        let scripts = try #require(Self.unit(folder + "quickconnect-scripts").bytes("MemoryMax"))
        #expect(2 * ScriptLimits().memoryBytes + (128 << 20) <= scripts)
        let procedures = ProcedureSettings()
        let data = try #require(Self.unit(folder + "quickconnect-data").bytes("MemoryMax"))
        #expect((procedures.parallel + 1) * procedures.memoryBytes + (64 << 20) <= data)
    }

    /// Asked to abort, a frozen process goes on for a moment; and what is leased by it goes on until it ends.
    @Test(arguments: ["quickconnectd", "user/quickconnectd", "quickconnect-web", "quickconnect-mqtt"])
    func `a frozen one that sets outputs for others is killed`(name: String) throws {
        #expect(try Self.unit(name).settings["WatchdogSignal"] == "SIGKILL")
    }

    @Test func `a motor that a page has set does not wait long for a frozen gateway`() throws {
        #expect(try Self.unit("quickconnect-web").settings["WatchdogSec"] == "20")
    }

    @Test(arguments: ["scripts", "data", "web", "mqtt", "sync"])
    func `below run there is only what is listed`(name: String) throws {
        let settings = try Self.unit("quickconnect-\(name)").settings
        #expect(settings["TemporaryFileSystem"] == "/run:ro")
    }
}
