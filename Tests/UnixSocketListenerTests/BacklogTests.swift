import JSON
import QuickConnect
import Testing

@testable import quickconnectd

@Suite("What waits for a slow client")
struct SensorBacklogTests {
    private static func sensor(_ name: String, _ value: Int64) -> Event { Event(name, .integer(value), kind: .sensor) }

    private static func lines(_ events: [(event: Event, form: WireForm)]) -> Set<String> {
        Set(
            events.map { event in
                let buffer = OutputBuffer()
                buffer.append(event.event, form: event.form)
                return String(decoding: buffer.flattened().dropLast(), as: UTF8.self)
            }
        )
    }

    @Test("Of each sensor the newest value waits, and how many it took the place of")
    func newest() {
        var backlog = SensorBacklog()
        #expect(backlog.isEmpty)
        for value in 1...5 { backlog.add(Self.sensor("accel", Int64(value)), form: .bridge) }
        backlog.add(Self.sensor("location", 7), form: .url)
        #expect(!backlog.isEmpty)
        #expect(
            Self.lines(backlog.take(droppedForm: .bridge)) == [
                #"{"handlerName":"accel","data":5}"#, "handleJSONRequest?cmd=location&msg=7",
                #"{"handlerName":"dropped","data":{"event":"accel","count":4}}"#,
            ]
        )
        #expect(backlog.isEmpty && backlog.take(droppedForm: .bridge).isEmpty)
        // They are counted anew.
        backlog.add(Self.sensor("accel", 6), form: .bridge)
        #expect(Self.lines(backlog.take(droppedForm: .bridge)) == [#"{"handlerName":"accel","data":6}"#])
    }

    @Test("Who does not subscribe to the missed ones is not told of them")
    func notTold() {
        var backlog = SensorBacklog()
        for value in 1...5 { backlog.add(Self.sensor("accel", Int64(value)), form: .url) }
        #expect(Self.lines(backlog.take(droppedForm: nil)) == ["handleJSONRequest?cmd=accel&msg=5"])
    }

    @Test("Events are told apart by the bytes of their names")
    func byteNames() {
        var backlog = SensorBacklog()
        for name in ["n\u{E9}", "ne\u{301}"] { backlog.add(Self.sensor(name, 1), form: .url) }
        #expect(backlog.take(droppedForm: .url).count == 2)
    }
}

@Suite("What a connection has to send")
struct OutgoingQueueTests {
    private static func text(_ value: String) -> JSONText {
        let json = JSONValue.string(value).text
        return JSONText(checked: SharedBytes(json), 0..<json.utf8.count)
    }

    /// All pieces of a queue, and the size of the largest.
    private static func takeAll(_ queue: inout OutgoingQueue) -> (bytes: [UInt8], largest: Int, count: Int) {
        var (bytes, largest, count) = ([UInt8](), 0, 0)
        var hasMore = !queue.isEmpty
        while hasMore {
            hasMore = queue.sendNext { piece in
                #expect(!piece.isEmpty)
                bytes += piece
                largest = max(largest, piece.count)
                count += 1
                return piece.count
            }
        }
        #expect(queue.isEmpty && queue.count == 0)
        return (bytes, largest, count)
    }

    @Test("What comes out in pieces is what went in whole, large texts encoded on the way")
    func pieces() {
        // Letters of 2 and 3 bytes, so that pieces end within letters.
        let large = Self.text(String(repeating: "é€", count: 100_000))
        let buffer = OutputBuffer()
        buffer.append("first ")
        buffer.append(large, as: .percent)
        buffer.append(" second ")
        buffer.append(large, as: .plain)
        buffer.append(large, as: .percent)
        let expected = buffer.flattened()
        var queue = OutgoingQueue()
        queue.append(buffer)
        #expect(queue.count > large.count * 3)
        let taken = Self.takeAll(&queue)
        #expect(taken.bytes == expected)
        #expect(taken.largest <= 3 * 64 << 10)
        #expect(taken.count > 20)
    }

    @Test("Many bytes come out in pieces too, and several buffers behind each other")
    func bytes() {
        var queue = OutgoingQueue()
        #expect(queue.isEmpty && !queue.sendNext { _ in 0 })
        var expected: [UInt8] = []
        for size in [1, 256 << 10, (256 << 10) + 1, 0, 3_000_000, 7] {
            let buffer = OutputBuffer()
            buffer.append((0..<size).map { UInt8(truncatingIfNeeded: $0) })
            expected += buffer.flattened()
            queue.append(buffer)
        }
        #expect(queue.count == expected.count)
        let taken = Self.takeAll(&queue)
        #expect(taken.bytes == expected)
    }

    @Test("The count falls as pieces are taken, and never below nothing")
    func count() {
        var queue = OutgoingQueue()
        let buffer = OutputBuffer()
        buffer.append([UInt8](repeating: 1, count: 1_000_000))
        buffer.append(Self.text(String(repeating: "x", count: 1_000_000)), as: .percent)
        queue.append(buffer)
        var last = queue.count
        while queue.sendNext({ min($0.count, 10_000) }) || !queue.isEmpty {
            #expect(queue.count < last && queue.count >= 0)
            last = queue.count
        }
        #expect(queue.isEmpty && queue.count == 0)
    }
}
