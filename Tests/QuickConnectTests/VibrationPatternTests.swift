import JSON
import QuickConnect
import TestRig
import Testing

/// The patterns of `vibrate`, as the W3C's Vibration API has them, and how they are read from a call.
@Suite struct VibrationPatternTests {
    @Test func `a pause at the end is left out`() {
        #expect(VibrationPattern([1, 2]).milliseconds == [1])
        #expect(VibrationPattern([1, 2, 3, 4]).milliseconds == [1, 2, 3])
    }

    @Test func `what is too long is shortened`() {
        #expect(VibrationPattern([10_001, 20_000, .max]).milliseconds == [10_000, 10_000, 10_000])
        #expect(VibrationPattern(Array(repeating: 1, count: 200)).milliseconds.count == 99)
    }

    @Test func `nothing and a single 0 are empty, and a 0 among others is not`() {
        #expect(VibrationPattern([]).isEmpty && VibrationPattern([0]).isEmpty && VibrationPattern([0, 5]).isEmpty)
        #expect(!VibrationPattern([0, 5, 0]).isEmpty)
    }

    /// What `vibrate` makes of a message: the pattern, or the fields of its error.
    private func read(_ messages: [String]) async throws -> [JSONValue] {
        var results: [JSONValue] = []
        try await withDaemon({ mappings in
            mappings.map(
                "vibrate",
                .shipped("VibrateValCO", .validation),
                .bco { call in
                    let pattern = call.handedOn(VibrationPattern.self)?.milliseconds ?? [-1]
                    return .result(.array(pattern.map { .integer(Int64($0)) }))
                }
            )
        }) { daemon in
            let client = daemon.connect()
            for message in messages {
                client.send(#"{"handlerName":"vibrate","data":\#(message),"callbackId":"1"}"#)
                let reply = try JSONParser.parse(await client.next()).objectValue ?? [:]
                let fields = reply["error"]?.objectValue?["fields"]?.arrayValue ?? []
                results.append(reply["responseData"] ?? .array(fields.map { $0.objectValue?["field"] ?? .null }))
            }
        }
        return results
    }

    @Test func `it is read from the parameters, from one list, or from nothing`() async throws {
        let read = try await read([
            "200", "[200]", "[100,50,100]", "[[100,50,100]]", "[]", "[[]]", "null", "[null]", "0", "[0]", "[1.9,2,3e2]",
            "[1e300]", "[0,5,0]",
        ])
        let expected: [JSONValue] = [
            [200], [200], [100, 50, 100], [100, 50, 100], [], [], [], [], [], [], [1, 2, 300], [10_000], [0, 5, 0],
        ]
        #expect(read == expected)
    }

    @Test func `what is no number of at least 0 is told, all of it at once`() async throws {
        let read = try await read([
            "-1", "\"200\"", "true", "{\"ms\":3}", "[1,null,-0.1]", "[1,[2]]", "[[1,\"a\",[2],null]]", "[[1],2]",
        ])
        let expected: [JSONValue] = [
            ["/0"], ["/0"], ["/0"], ["/0"], ["/1", "/2"], ["/1"], ["/0/1", "/0/2", "/0/3"], ["/0"],
        ]
        #expect(read == expected)
    }

    @Test func `of the longest only as much is read as counts`() async throws {
        let long = "[" + Array(repeating: "7", count: 100_000).joined(separator: ",") + "]"
        let digits = "1." + String(repeating: "9", count: 100_000)
        let broken = "[" + Array(repeating: "\"x\"", count: 100_000).joined(separator: ",") + "]"
        let read = try await read([long, "[\(long)]", digits, broken])
        #expect(read[0].arrayValue?.count == 99 && read[1] == read[0] && read[2] == ["/0"])
        #expect((1...17).contains(read[3].arrayValue?.count ?? 0))
    }

    @Test func `whatever is sent, it is a pattern within the limits or an error`() async throws {
        var numbers = SeededGenerator(seed: 14)
        let messages = (0..<2000).map { _ in
            let items = (0..<numbers.below(6)).map { _ in
                numbers.below(3) > 0
                    ? JSONValue.number(Double(numbers.below(40_000) - 5000) / 3) : numbers.value(depth: 2)
            }
            return (numbers.below(3) == 0 ? JSONValue.array([.array(items)]) : .array(items)).text
        }
        for (message, result) in zip(messages, try await read(messages)) {
            let items = try #require(result.arrayValue)
            if items.contains(where: { $0.stringValue != nil }) { continue }
            let pattern = items.compactMap(\.integerValue)
            #expect(pattern.allSatisfy { (0...10_000).contains($0) }, "\(message)")
            #expect(pattern.isEmpty || !pattern.count.isMultiple(of: 2), "\(message)")
        }
    }
}
