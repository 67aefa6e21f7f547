import DataStore
import JSON
import TestRig
import Testing

/// SQL that procedures bring along.
@Suite("SQL of procedures")
struct SQLTests {
    let folder: TestFolder
    let store: DataStore

    init() throws {
        folder = try TestFolder()
        store = try folder.store()
        for number in 1...3 {
            try store.save(try Entry("2026-11-2\(number)", "walk", ["steps": .integer(Int64(number))]))
        }
    }

    private func rows(_ sql: String, _ values: [SQLValue] = [], _ limits: SQLLimits = SQLLimits()) throws -> JSONValue {
        try JSONParser.parse(store.sql(sql, values, limits))
    }

    private func kind(_ sql: String, _ values: [SQLValue] = [], _ limits: SQLLimits = SQLLimits()) -> StoreError.Kind? {
        do {
            _ = try store.sql(sql, values, limits)
            return nil
        } catch { return error.kind }
    }

    private func text(_ sql: String) -> String {
        do { _ = try store.sql(sql, []); return "" } catch { return "\(error)" }
    }

    @Test func `it selects, groups, binds and uses JSON`() throws {
        #expect(
            try rows(
                "SELECT date(date) AS day, sum(data ->> '$.steps') AS steps FROM entries WHERE date > ? GROUP BY 1;",
                [.text("2026-11-22")]
            ) == [["day": "2026-11-22", "steps": 2], ["day": "2026-11-23", "steps": 3]]
        )
        #expect(try rows("SELECT value FROM json_each('[1, null]')") == [["value": 1], ["value": nil]])
        let counting = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT i FROM n"
        #expect(try rows(counting) == [["i": 1], ["i": 2], ["i": 3]])
        #expect(try rows("SELECT id FROM entries WHERE kind = ?", [.text("' OR 1=1 --")]) == [])
    }

    @Test(arguments: [
        "INSERT INTO entries(date, kind) VALUES('x', 'x')", "DELETE FROM entries", "UPDATE entries SET kind = 'x'",
        "DROP TABLE entries", "CREATE TABLE t(x)", "CREATE TEMP TABLE t(x)", "ATTACH '/tmp/x.db' AS x", "DETACH main",
        "PRAGMA user_version", "PRAGMA query_only = OFF", "SELECT * FROM pragma_table_info('entries')",
        "VACUUM INTO '/tmp/x'",
        "SELECT load_extension('x')", "SELECT readfile('/etc/passwd')", "SELECT writefile('/tmp/x', 'x')", "BEGIN",
        "COMMIT",
        "SELECT 1; DELETE FROM entries", "SELECT * FROM sqlite_schema", "SELECT * FROM sqlite_sequence", "REINDEX",
        "ANALYZE",
        "SELECT fts3_tokenizer('simple')", "EXPLAIN DELETE FROM entries", "SELECT nothing", "", "-- nothing", "\u{0}",
        "SELECT 1\u{0}", "SELECT 1; \u{0}; DELETE FROM entries", "SELECT 1; -- x\nSELECT 2", "SELECT 1; SELECT (",
    ])
    func `whatever does more than read entries is refused`(sql: String) throws {
        let found = try #require(kind(sql), "\(sql)")
        #expect([.invalid, .readOnly].contains(found), "\(sql): \(text(sql))")
        #expect(try store.count(EntryQuery()) == 3)
        #expect(try rows("SELECT count(*) AS n FROM entries") == [["n": 3]])
    }

    @Test(arguments: ["SELECT 1 AS n;", "SELECT 1 AS n -- x", "SELECT 1 AS n; -- x", ";; SELECT 1 AS n;; /* x */ ;"])
    func `semicolons and comments may stand around a statement`(sql: String) throws {
        #expect(try rows(sql) == [["n": 1]])
    }

    @Test func `it has limits of time, rows and bytes`() throws {
        var limits = SQLLimits()
        limits.time = .milliseconds(50)
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        #expect(kind(endless, [], limits) == .timeout)
        limits = SQLLimits()
        limits.rows = 2
        #expect(kind("SELECT id FROM entries", [], limits) == .tooLarge)
        #expect(try rows("SELECT id FROM entries LIMIT 2", [], limits).arrayValue?.count == 2)
        #expect(kind("SELECT length(zeroblob(100000000))") == .tooLarge)
        #expect(kind("SELECT hex(randomblob(8000000))") == .tooLarge)
        #expect(kind("SELECT ?") == .invalid)
        #expect(kind("SELECT 1", [.null]) == .invalid)
    }
}
