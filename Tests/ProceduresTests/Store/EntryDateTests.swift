import Procedures
import Testing

@Suite("Dates of entries")
struct EntryDateTests {
    @Test(arguments: [
        ("2026-11-21", "2026-11-21T00:00:00.000Z"), ("2026-11-21T10:00Z", "2026-11-21T10:00:00.000Z"),
        ("2026-11-21T10:00:01.2345Z", "2026-11-21T10:00:01.234Z"),
        ("2026-11-21T00:30:00+01:00", "2026-11-20T23:30:00.000Z"),
        ("2026-12-31T23:30:00-0100", "2027-01-01T00:30:00.000Z"), ("2024-02-29T12:00:00Z", "2024-02-29T12:00:00.000Z"),
        ("2000-02-29", "2000-02-29T00:00:00.000Z"), ("0000-01-01", "0000-01-01T00:00:00.000Z"),
        ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ("2026-11-21t10:00:00z", "2026-11-21T10:00:00.000Z"),
        ("2026-11-21t10:00:00.5-00:00", "2026-11-21T10:00:00.500Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"),
        ("1990-12-31T15:59:60.25-08:00", "1991-01-01T00:00:00.250Z"),
    ])
    func `a date is read, and written in UTC`(text: String, canonical: String) throws {
        #expect(try EntryDate(text).description == canonical)
        #expect(try EntryDate(canonical) == EntryDate(text))
    }

    @Test(arguments: [
        "", "now", "2026", "2026-13-01", "2026-00-01", "2026-02-29", "1900-02-29", "2026-04-31", "2026-11-21T10:00",
        "2026-11-21T24:00Z", "2026-11-21T10:60Z", "2026-11-21T10:00:60Z", "2026-11-21T23:59:60+01:00",
        "2026-11-21T23:59:61Z", "2026-11-21 10:00Z", "2026-11-21T10:00:00.Z",
        "2026-11-21T10:00Z ", "+002026-11-21", "2026-11-21T10:00+1", "2026-11-21Z", "０026-11-21", "2026-1-1",
        "0000-01-01T00:00:00+23:59", "9999-12-31T23:59:59-00:01", "' OR 1=1 --", "2026-11-21T10:00\u{0}Z",
    ])
    func `what is no date with a zone is refused`(text: String) {
        #expect(throws: StoreError.self) { try EntryDate(text) }
    }

    @Test func `every day of four centuries is itself again`() throws {
        for day in Int64(-80_000)...80_000 {
            let date = try #require(EntryDate(milliseconds: day * 86_400_000 + 86_399_999))
            #expect(try EntryDate(date.description) == date)
        }
    }
}
