import Glibc
import JSON
import Testing

@testable import Procedures

@Suite("Local days of procedures", .serialized)
struct ProcedureDayTests {
    private func day(_ text: String?, _ zone: String?, now: Double = 0) throws(ProcedureError) -> [String] {
        let bounds = try ProcedureDay.bounds(of: text, zone: zone, now: now).objectValue ?? [:]
        #expect(bounds.names == ["begin", "end"])
        return bounds.compactMap { $0.value.stringValue }
    }

    private static let isThere = access("/usr/share/zoneinfo/Pacific/Apia", R_OK) == 0

    @Test(
        .enabled(if: isThere, "tzdata is not installed"),
        arguments: [
            ("2026-11-23", "UTC", "2026-11-23T00:00:00.000Z", "2026-11-24T00:00:00.000Z"),
            ("2026-11-23", "Asia/Kolkata", "2026-11-22T18:30:00.000Z", "2026-11-23T18:30:00.000Z"),
            // 23 and 25 hours.
            ("2026-03-29", "Europe/Dublin", "2026-03-29T00:00:00.000Z", "2026-03-29T23:00:00.000Z"),
            ("2026-10-25", "Europe/Dublin", "2026-10-24T23:00:00.000Z", "2026-10-26T00:00:00.000Z"),
            // Clocks are put forward at midnight, and a date was left out.
            ("2026-09-06", "America/Santiago", "2026-09-06T04:00:00.000Z", "2026-09-07T03:00:00.000Z"),
            ("2011-12-30", "Pacific/Apia", "2011-12-30T10:00:00.000Z", "2011-12-30T10:00:00.000Z"),
        ]
    )
    func `have the hours that their zone gives them`(_ text: String, _ zone: String, _ begin: String, _ end: String)
        throws
    {
        #expect(try day(text, zone) == [begin, end])
    }

    @Test(.enabled(if: isThere, "tzdata is not installed"))
    func `today is where the zone is, and the process's own zone is as before`() throws {
        let before = getenv("TZ").map { String(cString: $0) }
        let here = try day("2026-07-01", nil)
        // 2026-11-24 23:30 in UTC.
        let now = 1_795_563_000_500.0
        #expect(try day(nil, "UTC", now: now)[0] == "2026-11-24T00:00:00.000Z")
        #expect(try day(nil, "Europe/Berlin", now: now) == ["2026-11-24T23:00:00.000Z", "2026-11-25T23:00:00.000Z"])
        #expect(getenv("TZ").map { String(cString: $0) } == before)
        #expect(try day("2026-07-01", nil) == here)
        #expect(try day(nil, "UTC", now: -.infinity).count == 2)
    }

    @Test(arguments: ["", "today", "2026-02-30", "2026-1-1", "2026-11-23T00:00:00Z", "20261123", "2026-11-23 "])
    func `what is no day is an error`(_ text: String) {
        let error = #expect(throws: ProcedureError.self) { try day(text, nil) }
        #expect(error?.message.contains("is not a day: give one such as") == true)
    }

    @Test(arguments: [
        "", "Europe", "Europe/Nowhere", "../zoneinfo/UTC", "/etc/localtime", "UTC0\u{0}", ":UTC", "EST5,M3",
    ])
    func `what is no zone is an error, and never UTC`(_ zone: String) {
        let error = #expect(throws: ProcedureError.self) { try day("2026-11-23", zone) }
        #expect(error?.message.contains("knows no time zone") == true)
    }
}
