import JSON
import Procedures
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
        for number: JSONValue in [9, 10] { try store.save(try Entry("2026-11-25", "level", number)) }
        let most = try rows("SELECT max(data) AS text, max(data ->> '$') AS value FROM entries WHERE kind = 'level'")
        #expect(most == [["text": "9", "value": 10]])
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

    @Test(arguments: [
        "INSERT INTO entries(kind) VALUES('x')", "DELETE FROM entries", "SELECT * FROM sqlite_schema", "VACUUM",
    ])
    func `who would change entries is told how`(sql: String) {
        #expect(text(sql) == "sql only reads, and only entries: save, update and delete change them")
    }

    @Test(arguments: ["SELECT 1 AS n;", "SELECT 1 AS n -- x", "SELECT 1 AS n; -- x", ";; SELECT 1 AS n;; /* x */ ;"])
    func `semicolons and comments may stand around a statement`(sql: String) throws {
        #expect(try rows(sql) == [["n": 1]])
    }

    /// 8 MB of the same letter, and half of that with another one at its end: all but the last letter fits everywhere.
    private static let long = "printf('%.*c', 8000000, 'a')"
    private static let needle = "(printf('%.*c', 4000000, 'a') || 'b')"

    @Test(arguments: [
        "SELECT printf('%.*c', 900000000, 'x')", "SELECT format('%.900000000c', 'x')",
        "SELECT length(printf('%-+ #!0,5.*lc', -900000000, 'x'))", "SELECT printf('%.*c', '900000000', 'x')",
        "SELECT printf(\(long) || '%.*c', 900000000, 'x')",
        "SELECT length(printf(replace(\(long), 'a', '%.99999999c'), 'x'))",
        "SELECT printf('%*d', 900000000, 1)", "SELECT printf('%.900000000f', 1.5)",
        "SELECT printf('%.*d', 900000000, 1)",
        "SELECT instr(\(long), \(needle))", "SELECT length(replace(\(long), \(needle), ''))",
        "SELECT length(trim(\(long), \(needle)))", "SELECT length(ltrim(\(long), printf('%.*c', 4000000, 'c') || 'a'))",
        "SELECT length(rtrim(\(long), printf('%.*c', 4000000, 'c') || 'a'))",
        "SELECT \(long) LIKE '%' || printf('%.*c', 900, 'a') || 'b'",
        "SELECT \(long) GLOB '*' || printf('%.*c', 900, 'a') || 'b'",
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000),
            o(j) AS (SELECT json_group_object('k' || i, i) FROM n)
        SELECT length(json_patch(j, j)) FROM o
        """,
        "SELECT "
            + (1...400).map {
                "instr(\(long.replacing("8000000", with: "90000")), \(needle.replacing("4000000", with: "40000")) || \($0))"
            }
            .joined(separator: "+"),
        "SELECT sum(instr(a.data || \(long.replacing("8000000", with: "90000")), b.data || \(needle.replacing("4000000", with: "40000")))) FROM entries a, entries b, entries c, entries d",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT group_concat(i) FROM n",
        "WITH RECURSIVE n(i) AS (SELECT zeroblob(8000000) UNION ALL SELECT i FROM n) SELECT count(*) FROM n",
    ])
    func `a function that would take long ends in the time of a statement, and the next one runs`(sql: String) throws {
        var limits = SQLLimits()
        limits.time = .milliseconds(500)
        // Without an end of theirs they take minutes, or for ever.
        let found = kind(sql, [], limits)
        #expect(found.map { [.timeout, .tooLarge, .invalid].contains($0) } ?? true, "\(text(sql))")
        #expect(try rows("SELECT 1 AS n", [], limits) == [["n": 1]])
    }

    @Test func `functions whose calls are looked at say what they always said`() throws {
        let values = try rows(
            """
            SELECT printf('%05.2f|%5s|%-3d|%c|%.3c|%%|%,d', 3.14159, 'ab', 7, 'xyz', 'q', 1234567) AS a,
                format('%.*s', 2, 'abc') AS b, instr('Käse', 's') AS c, replace('a-b-c', '-', '+') AS d,
                trim('xxaxx', 'x') AS e, ltrim('xa', 'x') AS f, rtrim('ax', 'x') AS g, trim(' a ') AS h,
                json_extract(json_patch('{"a":1}', '{"b":[2]}'), '$.b[0]') AS i, json_array(json_patch('{}', '{"a":1}')) AS j,
                instr(NULL, 'a') AS k, replace('a', NULL, 'b') AS l, instr(x'0102', x'02') AS m, printf(NULL) AS n
            """
        )
        #expect(
            values == [
                [
                    "a": "03.14|   ab|7  |x|qqq|%|1,234,567", "b": "ab", "c": 3, "d": "a+b+c", "e": "a", "f": "a",
                    "g": "a", "h": "a", "i": 2, "j": #"[{"a":1}]"#, "k": nil, "l": nil, "m": 2, "n": nil,
                ]
            ]
        )
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
