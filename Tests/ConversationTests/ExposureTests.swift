import Foundation
import TestRig
import Testing

/// What systemd says of the units' sandboxes, without starting them.
@Suite(
    "How much the units leave open",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze"), "systemd is not installed")
)
struct ExposureTests {
    /// The most that each may have of `systemd-analyze security`, of 10. The kiosk's unit runs an X server, and has no limit here.
    static let limits = [
        ("quickconnectd", 1.5), ("quickconnect-scripts", 0.5), ("quickconnect-data", 0.5), ("quickconnect-sync", 1.5),
        ("quickconnect-web", 1.5), ("quickconnect-mqtt", 1.5), ("quickconnect-undo-restore", 1.5),
    ]

    @Test func `each unit has its limit`() throws {
        let units = try FileManager.default.contentsOfDirectory(atPath: Products.root + "/systemd")
            .filter { $0.hasSuffix(".service") }.map { String($0.dropLast(8)) }
        #expect(Set(units) == Set(Self.limits.map(\.0) + ["quickconnect-kiosk"]))
    }

    @Test(arguments: limits)
    func `a unit is exposed no more than that`(unit: String, limit: Double) async throws {
        let root = try TestFolder()
        try FileManager.default.createDirectory(
            atPath: root("etc/systemd/system"),
            withIntermediateDirectories: true
        )
        let text = try String(contentsOfFile: "\(Products.root)/systemd/\(unit).service", encoding: .utf8)
        try root.write(text, to: "etc/systemd/system/\(unit).service")
        let words = ["security", "--offline=true", "--no-pager", "--root=\(root.path)", "\(unit).service"]
        let outcome = try await ChildProcess.run("systemd-analyze", words)
        let line = try #require(outcome.output.split(separator: "\n").last { $0.contains("Overall exposure level") })
        let value = try #require(line.split(separator: ":").last?.split(separator: " ").first.flatMap { Double($0) })
        #expect(value <= limit, "\(outcome.output)")
    }
}
