import Foundation
import TestRig
import Testing

@testable import MQTT

@Suite("Calls that are delivered again")
struct SeenCallTests {
    private func key(_ number: Int) -> CallKey { CallKey(high: 1, low: UInt64(number)) }

    /// Does what a file asks for, as the thread does that writes.
    /// - Returns: how often.
    @discardableResult
    private func write(_ file: SeenFile, at moment: ContinuousClock.Instant = .now) -> Int {
        var count = 0
        while let job = file.takeJob(at: moment) {
            count += 1
            guard file.didWrite(job(), at: moment) else { break }
        }
        return count
    }

    @Test func `a call is new once, until the broker cannot repeat it`() {
        var seen = SeenCalls(lifetime: 60)
        let taken = [100, 101, 160, 161].map { seen.take(key(1), of: "ann", at: $0) }
        #expect(taken == [true, false, false, true])
    }

    @Test func `of more than are kept the oldest are forgotten`() {
        var seen = SeenCalls(most: 3, lifetime: 60)
        let taken = [1, 2, 3, 4, 1, 4].map { seen.take(key($0), of: "ann", at: 1) }
        #expect(taken == [true, true, true, true, true, false] && seen.count == 3)
        #expect(seen.all.map(\.key.low) == [3, 4, 1])
    }

    @Test func `a caller who makes many has his own forgotten, and nobody else's`() {
        var seen = SeenCalls(most: 100, lifetime: 60)
        let first = seen.take(key(0), of: "ann", at: 1)
        let flood = (1...10_000).filter { seen.take(key($0), of: "bob", at: 2) }.count
        #expect(first && flood == 10_000 && seen.count == 100)
        let again = [seen.take(key(0), of: "ann", at: 2), seen.take(key(9_990), of: "bob", at: 2)]
        #expect(again == [false, false])
    }

    @Test func `what is too old makes room before anything else`() {
        var seen = SeenCalls(most: 3, lifetime: 60)
        let taken = [(1, "ann", 1), (2, "bob", 50), (3, "bob", 51), (4, "cy", 100)].map { number, caller, seconds in
            seen.take(key(number), of: caller, at: Int64(seconds))
        }
        #expect(taken == [true, true, true, true] && seen.all.map(\.key.low) == [2, 3, 4])
    }

    @Test func `a gateway that is started anew knows the calls of before`() throws {
        let folder = try TestFolder()
        var complaints: [String] = []
        do {
            let file = SeenFile(folder("calls"), lifetime: 3600) { complaints.append($0) }
            #expect(file.take(key(1), of: "ann") && file.take(key(2), of: "bob") && !file.take(key(1), of: "ann"))
            #expect(write(file) == 1 && write(file) == 0)
        }
        let again = SeenFile(folder("calls"), lifetime: 3600) { complaints.append($0) }
        #expect(!again.take(key(1), of: "ann") && !again.take(key(2), of: "bob") && again.take(key(3), of: "ann"))
        #expect(complaints.isEmpty)
    }

    /// Seconds since the machine was started: at the first start of the gateway, when it takes a call, and at the second start.
    @Test(arguments: [(100, 130, 160, true), (100, 130, 191, false), (5000, 5000, 10, true), (20, 30, 7200, false)])
    func `a call is known for its time, also where the machine was started anew`(
        first: Int64,
        call: Int64,
        second: Int64,
        isKnown: Bool
    ) throws {
        let folder = try TestFolder()
        var now = first
        let clock = { now }
        do {
            let file = SeenFile(folder("calls"), lifetime: 60, now: clock) { _ in }
            now = call
            #expect(file.take(key(1), of: "ann"))
            write(file)
        }
        now = second
        let again = SeenFile(folder("calls"), lifetime: 60, now: clock) { _ in }
        #expect(again.take(key(1), of: "ann") != isKnown)
    }

    @Test func `a file that is damaged loses no more than what is damaged`() throws {
        let folder = try TestFolder()
        let known = "9999999999 \(key(1).text) ann\n"
        try folder.write("x\n\u{0} y\n-1 x ann\n\(known)9999999999 \(key(2).text.dropLast())", to: "calls")
        let file = SeenFile(folder("calls"), lifetime: 3600) { _ in }
        #expect(!file.take(key(1), of: "ann") && file.take(key(2), of: "ann"))
    }

    @Test func `without a place to keep them a call is still done once`() {
        var complaints: [String] = []
        let file = SeenFile("/nonexistent/calls", lifetime: 60) { complaints.append($0) }
        #expect(file.take(key(1), of: "ann") && !file.take(key(1), of: "ann") && complaints.count == 1)
    }

    @Test func `a disk that fails is tried three times and told once, and again after a pause`() throws {
        let folder = try TestFolder()
        var complaints: [String] = []
        let file = SeenFile(folder("no/calls"), lifetime: 60) { complaints.append($0) }
        #expect(complaints.count == 1 && complaints[0].contains("3 attempts"), "\(complaints)")
        #expect(file.take(key(1), of: "ann") && write(file) == 0, "it has just failed")
        let later = ContinuousClock.now + .seconds(11)
        #expect(write(file, at: later) == 3 && complaints.count == 2)
        try FileManager.default.createDirectory(atPath: folder("no"), withIntermediateDirectories: false)
        #expect(file.take(key(2), of: "ann") && write(file, at: later + .seconds(11)) == 1)
        let again = SeenFile(folder("no/calls"), lifetime: 60) { complaints.append($0) }
        #expect(!again.take(key(1), of: "ann") && !again.take(key(2), of: "ann") && complaints.count == 2)
    }
}
