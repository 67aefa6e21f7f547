import Foundation
import JSON
import TestRig
import Testing

@testable import Procedures

/// Files that are not as they should be, and what keeps them small.
@Suite("Data file")
struct StoreFileTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func kind(_ body: () throws -> Void) -> StoreError.Kind? {
        do {
            try body()
            return nil
        } catch { return (error as? StoreError)?.kind }
    }

    @Test func `a commit waits for the disk where that is asked for, also in a file that is used without`() throws {
        let recorder = try folder.store()
        #expect(try recorder.database.integer("PRAGMA synchronous") == 1)
        let worker = try DataStore(folder("data.db"), outlivesPowerCuts: true)
        #expect(try worker.database.integer("PRAGMA synchronous") == 2)
        try worker.save([Entry("2026-01-01")])
        #expect(try recorder.database.integer("PRAGMA synchronous") == 1)
    }

    private func fill(_ count: Int) throws {
        let store = try folder.store()
        let start = try EntryDate("2026-01-01").milliseconds
        let entries = try (0..<count).map { number in
            Entry(
                date: try #require(EntryDate(milliseconds: start + Int64(number) * 60_000)),
                kind: number % 3 == 0 ? "sound" : "walk",
                data: .string(String(repeating: "x", count: 200))
            )
        }
        try store.save(entries)
    }

    @Test func `a file that was cut off is refused, and no byte of it is changed`() throws {
        try fill(2000)
        let whole = try folder.data("data.db")
        try folder.write(whole.prefix(whole.count / 2), to: "data.db")
        #expect(kind { _ = try folder.store(isChecked: true) } == .damaged)
        #expect(try folder.data("data.db") == whole.prefix(whole.count / 2))
    }

    @Test func `what is no database, or another program's, is refused`() async throws {
        try folder.write(String(repeating: "no database ", count: 1000), to: "data.db")
        #expect(kind { _ = try folder.store() } == .damaged)
        try folder.remove("data.db")
        _ = try await folder.shell("CREATE TABLE other(x)")
        #expect(kind { _ = try folder.store() } == .damaged)
    }

    @Test(arguments: [
        ("CREATE TRIGGER spy AFTER INSERT ON entries BEGIN DELETE FROM entries; END", "the trigger 'spy'"),
        ("CREATE VIEW v AS SELECT * FROM entries", "the view 'v'"), ("CREATE TABLE t(x)", "the table 't'"),
        ("CREATE INDEX i ON entries(data)", "the index 'i'"),
        ("DROP INDEX entries_date", "lacks the index 'entries_date'"),
        (
            "DROP INDEX entries_date; CREATE INDEX entries_date ON entries(date DESC)",
            "the index 'entries_date'"
        ), ("PRAGMA user_version = 0", "has what"),
    ])
    func `a file with anything but its own tables and indexes is refused, and not changed`(sql: String, says: String)
        async throws
    {
        try fill(3)
        _ = try await folder.shell("PRAGMA wal_checkpoint(TRUNCATE); \(sql)")
        let before = try folder.data("data.db")
        do {
            _ = try folder.store()
            Issue.record("it was opened")
        } catch {
            #expect((error as? StoreError)?.kind == .damaged && "\(error)".contains(says), "\(error)")
        }
        #expect(try folder.data("data.db") == before)
    }

    @Test func `a file of a newer version is refused with both versions`() async throws {
        try fill(1)
        _ = try await folder.shell("PRAGMA user_version = 77")
        #expect(throws: StoreError.self) { try folder.store() }
        do {
            _ = try folder.store()
        } catch {
            #expect((error as? StoreError)?.kind == .newer && "\(error)".contains("version 77"))
        }
        _ = try await folder.shell("PRAGMA user_version = 1")
        #expect(try folder.store(isChecked: true).count(EntryQuery()) == 1)
    }

    @Test func `a file that may not be written can be read`() throws {
        try fill(10)
        guard geteuid() != 0 else { return }
        chmod(folder("data.db"), 0o400)
        let store = try folder.store()
        #expect(try store.count(EntryQuery()) == 10)
        #expect(kind { try store.save(Entry("2026-11-21")) } == .readOnly)
    }

    @Test func `a symbolic link in its place is not followed`() throws {
        try FileManager.default.createSymbolicLink(atPath: folder("data.db"), withDestinationPath: folder("other.db"))
        #expect(kind { _ = try folder.store() } == .unavailable)
        #expect(!folder.exists("other.db"))
    }

    @Test func `a full disk refuses what comes, keeps what is there, and goes on when there is room`() throws {
        try fill(1000)
        let store = try folder.store()
        try store.setMaximumBytes(Int64(folder.size("data.db")))
        let more = try (0..<500).map { _ in try Entry("2026-11-21", "walk", .string(String(repeating: "y", count: 500)))
        }
        #expect(kind { try store.save(more) } == .full)
        #expect(try store.count(EntryQuery()) == 1000)
        try store.setMaximumBytes(1 << 30)
        try store.save(more)
        #expect(try store.count(EntryQuery()) == 1500)
        #expect(try folder.store(isChecked: true).count(EntryQuery()) == 1500)
    }

    @Test func `the oldest go in small steps, by age and by size, and the file shrinks`() throws {
        try fill(3000)
        let store = try folder.store()
        let middle = try #require(EntryDate(milliseconds: try EntryDate("2026-01-01").milliseconds + 1500 * 60_000))
        var steps: [Int] = []
        repeat { steps.append(try store.deleteSome(before: middle, kind: "walk")) } while steps.last == DataStore.step
        #expect(steps == [500, 500, 0])
        #expect(try store.count(EntryQuery(kind: "sound")) == 1000)
        #expect(try store.count(EntryQuery(kind: "walk")) == 1000)
        let (used, size) = (try store.usedBytes, folder.size("data.db"))
        while try store.usedBytes > used / 2 { #expect(try store.deleteOldest() == DataStore.step) }
        #expect(try store.entries(EntryQuery()).allSatisfy { $0.date > middle })
        for _ in 0..<20 { try store.shrink() }
        _ = try folder.store(isChecked: true)
        try store.checkpoint()
        #expect(folder.size("data.db") < size * 2 / 3)
    }

    @Test func `a backup is whole while others write`() throws {
        try fill(5000)
        let store = try folder.store()
        let writer = try folder.store()
        try writer.transaction(writesAtOnce: true) {
            try writer.save(try Entry("2026-11-21"))
            try store.backUp(to: folder("copy.db"))
        }
        #expect(try DataStore(folder("copy.db"), isChecked: true).count(EntryQuery()) == 5000)
        #expect(try store.count(EntryQuery()) == 5001)
    }

    @Test func `what is exported comes in again as it was, and twice changes nothing`() throws {
        try fill(100)
        let exported = try folder.store().entries(EntryQuery())
        let other = try DataStore(folder("other.db"))
        #expect(try other.importEntries(exported) == 100)
        #expect(try other.importEntries(exported) == 0)
        #expect(try other.entries(EntryQuery()) == exported)
        // Another entry of the same number gets one of its own.
        var changed = exported[0]
        changed.kind = "other"
        #expect(try other.importEntries([changed]) == 1)
        #expect(try other.count(EntryQuery()) == 101)
    }

    @Test func `it tells what it holds`() throws {
        try fill(9)
        let information = try folder.store().information()
        #expect(information["entries"] == 9 && information["oldest"] == "2026-01-01T00:00:00.000Z")
        let walk = information["kinds"]?.arrayValue?.first?.objectValue
        #expect(walk?["kind"] == "walk" && walk?["entries"] == 6)
    }
}

extension DataStore {
    /// Runs `body` in one transaction.
    func transaction(writesAtOnce: Bool = false, _ body: () throws -> Void) throws {
        try begin(writesAtOnce: writesAtOnce)
        do {
            try body()
            try commit()
        } catch {
            rollBack()
            throw error
        }
    }

    /// Moves the contents of the log into the file, except what is being read.
    func checkpoint() throws { _ = try database.value("PRAGMA wal_checkpoint(TRUNCATE)") }

    /// Limits the size of the file, like a full disk. For this connection only.
    func setMaximumBytes(_ bytes: Int64) throws {
        let size = try database.integer("PRAGMA page_size")
        // A pragma takes no parameters.
        _ = try database.value("PRAGMA max_page_count = \(max(1, bytes / max(1, size)))")
    }
}
