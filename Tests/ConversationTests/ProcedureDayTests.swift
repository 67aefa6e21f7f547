import Foundation
import JSON
import TestRig
import Testing

@Suite("Local days in stored procedures")
struct ProcedureDayTests {
    @Test func `are the same on the device and under Node, and bound its entries`() async throws {
        let (daemon, service, client) = try await ProcedureTests.start([
            "day": "function execute(date, zone, callback) { callback(Context.day(date ?? undefined, zone)) }",
            "on": """
            function execute(date, zone, callback) {
                const { begin, end } = Context.day(date, zone), context = Context.context()
                for (const date of [begin, end]) context.save({ kind: 'edge', date })
                callback(context.queryEntriesBetweenDateStartEnd(begin, end).map(each => each.date))
            }
            """,
        ])
        defer { withExtendedLifetime(daemon) {} }
        let days: [[JSONValue]] = [
            ["2026-03-29", "Europe/Dublin"], ["2026-10-25", "Europe/Dublin"], ["2026-11-23", "Asia/Kolkata"],
            ["2026-09-06", "America/Santiago"], ["2026-04-05", "Australia/Lord_Howe"], ["2011-12-30", "Pacific/Apia"],
            ["2026-11-23"],
        ]
        try "".write(toFile: service.folder("none.jsonl"), atomically: true, encoding: .utf8)
        func node(_ words: [JSONValue]) async throws -> (exit: ChildProcess.Exit, output: String) {
            let program = [Products.root + "/clients/procedures/procedure.js", service.folder("procedures/day.js")]
            let texts = words.map { $0.stringValue ?? $0.text }
            return try await ChildProcess.run("node", program + [service.folder("none.jsonl")] + texts)
        }
        for day in days {
            let here = try await client.value("execute", .array(["day"] + day))
            #expect(here.objectValue?.names == ["begin", "end"])
            #expect(try await node(day).output == "\(here.text)\n", "\(day)")
        }
        let short = try await client.value("execute", ["on", "2026-03-29", "Europe/Dublin"])
        #expect(short == ["2026-03-29T00:00:00.000Z"])
        #expect(
            try await client.value("execute", ["day", nil, "UTC"]).objectValue?["begin"]?.stringValue?.hasSuffix(
                "T00:00:00.000Z"
            ) == true
        )
        for wrong: [JSONValue] in [["2026-02-30"], ["soon"], ["2026-11-23", "Europe/Nowhere"], [7]] {
            let failure = try await client.failure("execute", .array(["day"] + wrong))
            #expect(failure["code"] == "invalid" && failure["message"]?.stringValue?.contains("such as") == true)
            let done = try await node(wrong)
            #expect(done.exit == .status(1) && done.output.isEmpty, "\(wrong)")
        }
    }
}
