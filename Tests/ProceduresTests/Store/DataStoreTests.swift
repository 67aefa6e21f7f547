import Foundation
import JSON
import Procedures
import TestRig
import Testing

extension TestFolder {
    func store(isChecked: Bool = false) throws -> DataStore { try DataStore(self("data.db"), isChecked: isChecked) }

    /// What the shell of SQLite says.
    func shell(_ sql: String) async throws -> String {
        try await ChildProcess.run("/usr/bin/sqlite3", [self("data.db"), sql]).output
    }
}

extension Entry {
    init(_ date: String, _ kind: String = "walk", _ data: JSONValue = .null) throws {
        self.init(date: try EntryDate(date), kind: kind, data: data)
    }
}

@Suite("Data store")
struct DataStoreTests {
    let folder: TestFolder
    let store: DataStore

    init() throws {
        folder = try TestFolder()
        store = try folder.store()
    }

    private func kind(_ body: () throws -> Void) -> StoreError.Kind? {
        do {
            try body()
            return nil
        } catch { return (error as? StoreError)?.kind }
    }

    @Test func `entries are saved, found by their time, changed and deleted`() throws {
        let id = try store.save(try Entry("2026-11-21T10:00Z", "walk", ["steps": 12, "text": "ä\"\n\u{0}"]))
        try store.save(try Entry("2026-11-22T00:00Z"))
        let day = EntryQuery(from: try EntryDate("2026-11-21"), to: try EntryDate("2026-11-22"))
        let found = try JSONParser.parse(store.json(day))
        #expect(
            found == [
                [
                    "id": .integer(id), "date": "2026-11-21T10:00:00.000Z", "kind": "walk",
                    "data": ["steps": 12, "text": "ä\"\n\u{0}"], "source": "",
                ]
            ]
        )
        #expect(try store.entries(day).first?.data.objectValue?["steps"] == 12)
        #expect(try store.count(EntryQuery()) == 2)
        #expect(try store.update(id, ["data": [1], "kind": "run"]))
        #expect(try store.entry(id)?.kind == "run" && store.entry(id)?.data == [1])
        #expect(try !store.update(99, ["kind": "x"]))
        #expect(try store.delete(id) && !store.delete(id))
        // A number is never given twice.
        #expect(try store.save(Entry("2026-11-21")) == id + 2)
    }

    @Test func `a query has a kind, a time, conditions, an order and a limit`() throws {
        for number in 0..<10 {
            let data: JSONValue = [
                "level": .number(Double(number) / 10), "room": number % 2 == 0 ? "a" : "b",
                "odd": .bool(number % 2 == 1),
            ]
            try store.save(try Entry("2026-11-21T10:0\(number)Z", number < 8 ? "sound" : "light", data))
        }
        func ids(_ query: JSONValue) throws -> [Int64] { try store.entries(EntryQuery(query)).compactMap(\.id) }
        #expect(try ids(["kind": "light"]) == [9, 10])
        #expect(try ids(["where": ["data.level": ["gt": 0.5, "le": 0.7]]]) == [7, 8])
        #expect(try ids(["where": ["data.room": "b", "kind": "sound"], "order": "-date", "limit": 2]) == [8, 6])
        #expect(try ids(["where": ["data.room": ["in": ["b", "c"]], "id": ["lt": 5]]]) == [2, 4])
        #expect(try ids(["where": ["data.odd": true], "order": "-id", "limit": 1]) == [10])
        #expect(try ids(["where": ["data.none": nil], "limit": 1]) == [1])
        #expect(try ids(["where": ["data.room": ["in": []]]]).isEmpty)
        #expect(try ids(["where": ["date": ["ge": "2026-11-21T11:09:00+01:00"]]]) == [10])
        #expect(try store.count(EntryQuery(["where": ["data.room": "a"], "limit": 3])) == 3)
        #expect(try store.count(EntryQuery(["where": ["data.room": "a"]])) == 5)
    }

    @Test(
        arguments: [
            [1], ["kinds": "x"], ["kind": 1], ["kind": ""], ["from": "yesterday"], ["to": 5], ["order": "date; DROP"],
            ["limit": -1],
            ["limit": 1.5], ["where": [1]], ["where": ["secret": 1]], ["where": ["data.x": ["like": "%"]]],
            ["where": ["data": [1]]], ["where": ["id": ["in": 5]]], ["where": ["date": "x"]],
        ] as [JSONValue]
    )
    func `a query that makes no sense is refused`(query: JSONValue) {
        #expect(kind { _ = try EntryQuery(query) } == .invalid)
    }

    @Test func `nothing that is bound is SQL`() throws {
        try store.save(try Entry("2026-11-21"))
        let evil = "x') OR 1=1; DROP TABLE entries; --\"'"
        let names: [JSONValue] = [
            ["kind": .string(evil)], ["where": ["kind": .string(evil)]], ["where": ["source": ["in": [.string(evil)]]]],
            ["where": .object(JSONObject([("data.x') OR 1=1 --", JSONValue.integer(1))]))],
            ["where": .object(JSONObject([("data.$[x]..[0]'", JSONValue.integer(1))]))],
        ]
        for name in [evil, "\u{0}", "a\nb"] {
            let query = JSONValue.object(["where": .object(JSONObject([("data.\(name)", JSONValue.integer(1))]))])
            #expect(kind { _ = try EntryQuery(query) } == .invalid)
        }
        for query in names { #expect(try store.count(EntryQuery(query)) == 0, "\(query)") }
        try store.save(Entry(date: EntryDate("2026-11-21"), kind: evil, data: .string(evil), source: evil))
        #expect(try store.entries(EntryQuery(kind: evil)).first?.source == evil)
        #expect(try store.count(EntryQuery()) == 2)
    }

    @Test func `an entry that makes no sense is refused`() throws {
        let now = try EntryDate("2026-11-21")
        let bad: [JSONValue] = [
            .null, [], "x", [:], ["kind": ""], ["kind": 1], ["kind": .string(String(repeating: "x", count: 201))],
            ["kind": "x", "colour": 1], ["kind": "x", "date": "x"], ["kind": "x", "id": 0], ["kind": "x", "source": 1],
        ]
        for json in bad { #expect(kind { _ = try Entry(json, now: now) } == .invalid, "\(json)") }
        #expect(try Entry(["kind": "x", "date": nil], now: now).date == now)
        let large = Entry(date: now, kind: "x", data: .string(String(repeating: "x", count: 1 << 20)))
        #expect(kind { try store.save(large) } == .tooLarge)
        try store.save(Entry(id: 5, date: now, kind: "x"))
        #expect(kind { try store.save(Entry(id: 5, date: now, kind: "y")) } == .invalid)
        #expect(kind { _ = try store.update(5, ["id": 6]) } == .invalid)
        #expect(try store.count(EntryQuery()) == 1)
    }

    @Test func `a transaction is done whole or not at all, and one that meets another's write says so`() throws {
        struct Mistake: Error {}
        #expect(throws: Mistake.self) {
            try store.transaction {
                try store.save(try Entry("2026-11-21"))
                throw Mistake()
            }
        }
        #expect(try store.count(EntryQuery()) == 0)
        let other = try folder.store()
        #expect(
            kind {
                try store.transaction {
                    _ = try store.count(EntryQuery())
                    try other.save(Entry("2026-11-21"))
                    try store.save(Entry("2026-11-22"))
                }
            } == .conflict
        )
        #expect(try store.count(EntryQuery()) == 1)
        try store.transaction(writesAtOnce: true) {
            _ = try store.count(EntryQuery())
            try store.save(Entry("2026-11-22"))
        }
        #expect(try other.count(EntryQuery()) == 2)
    }

    @Test func `a process that is killed in the middle of a transaction leaves nothing half written`() async throws {
        // The shell holds the transaction open until it is killed.
        let script =
            "BEGIN; INSERT INTO entries(date, kind) VALUES('2026-11-21T00:00:00.000Z', 'half');\n.print begun\n.shell sleep 100\n"
        try folder.write(script, to: "script.sql")
        let shell = try ChildProcess("/usr/bin/sqlite3", [folder("data.db"), ".read \(folder("script.sql"))"])
        try await eventually("it has begun") { String(decoding: shell.standardOutput, as: UTF8.self).contains("begun") }
        shell.send(SIGKILL)
        _ = try await shell.wait()
        try store.save(try Entry("2026-11-21"))
        #expect(try store.entries(EntryQuery()).map(\.kind) == ["walk"])
    }

    @Test func `an index serves the entries of a day`() async throws {
        let plan = try await folder.shell(
            "EXPLAIN QUERY PLAN SELECT id, date, kind, data, source FROM entries WHERE date >= 'a' AND date < 'b' ORDER BY date, id"
        )
        #expect(plan.contains("USING INDEX entries_date") && !plan.contains("TEMP B-TREE"), "\(plan)")
        let kinds = try await folder.shell(
            "EXPLAIN QUERY PLAN SELECT count(*) FROM entries WHERE kind = 'a' AND date >= 'a' AND date < 'b'"
        )
        #expect(kinds.contains("USING COVERING INDEX entries_kind_date"), "\(kinds)")
    }
}
