import Concurrency
import Glibc
import Linux
import Synchronization
import TestRig
import Testing

@testable import Runtime

/// A pair of connected sockets that do not block.
private func pair() throws -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
    return (ends[0], ends[1])
}

/// Keeps what it is told.
private final class Listener: ChannelOwner {
    var told: [String] = []

    func inputIsReady() { told.append("input") }
    func outputIsReady() { told.append("output") }
    func peerIsGone() { told.append("gone") }
}

@Suite struct LoopTests {
    @Test func `what other threads give it is done in its order, and all of it before it ends`() async throws {
        let loop = try Loop()
        try loop.start("test-loop")
        let numbers = Mutex<[Int]>([])
        for number in 0..<10_000 { loop.execute { numbers.withLock { $0.append(number) } } }
        loop.execute { loop.execute { numbers.withLock { $0.append(10_000) } } }
        await loop.close()
        #expect(numbers.withLock { $0 } == Array(0...10_000))
    }

    @Test func `it knows its own thread`() async throws {
        let loop = try Loop()
        #expect(!loop.isCurrent)
        try loop.start("test-loop")
        let isCurrent = Deferred<Bool, Interruption>()
        loop.execute { isCurrent.fulfil(loop.isCurrent) }
        #expect(try await isCurrent.value() && !loop.isCurrent)
        await loop.close()
    }

    @Test func `a deadline comes when its time has come, and wakes the loop`() async throws {
        let loop = try Loop()
        try loop.start("test-loop")
        let rung = Deferred<LoopSpan, Interruption>()
        let begin = LoopTime.now()
        loop.execute { _ = loop.after(.milliseconds(30)) { rung.fulfil(.now() - begin) } }
        #expect(try await rung.value() >= .milliseconds(30))
        await loop.close()
    }

    @Test func `an end while jobs still come loses none and hangs never`() async throws {
        for _ in 0..<200 {
            let loop = try Loop()
            try loop.start("test-loop")
            let count = Atomic<Int>(0)
            for _ in 0..<10 { loop.execute { count.add(1, ordering: .relaxed) } }
            await loop.close()
            #expect(count.load(ordering: .relaxed) == 10)
        }
    }

    @Test func `after work of other threads it sleeps again`() async throws {
        let loop = try Loop()
        let given = Atomic<Int>(0)
        for _ in 0..<100 {
            for _ in 0..<20 {
                _ = PThread.start("test-giver") {
                    loop.execute {}
                    given.add(1, ordering: .relaxed)
                }
            }
            for _ in 0..<50 { _ = loop.runOnce(waits: false) }
        }
        try await eventually("all threads have given what they had") { given.load(ordering: .relaxed) == 2000 }
        while loop.runOnce(waits: false) {}
        let begin = LoopTime.now()
        _ = loop.after(.milliseconds(100)) {}
        _ = loop.runOnce(waits: true)
        #expect(.now() - begin >= .milliseconds(100))
    }

    @Test func `a turn that has more to do comes again after the next look, and nothing waits for it`() throws {
        let loop = try Loop()
        var turns = 0
        loop.turn = {
            turns += 1
            return turns < 5
        }
        var rounds = 0
        while loop.runOnce(waits: false) { rounds += 1 }
        #expect(turns == 5 && rounds == 4)
    }
}

@Suite struct ChannelTests {
    private func read(_ channel: SocketChannel, _ count: Int = 64) -> String? {
        withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { buffer in
            guard case .bytes(let count) = channel.read(into: buffer) else { return nil }
            return String(decoding: buffer[..<count], as: UTF8.self)
        }
    }

    private func write(_ text: String, to descriptor: Int32) {
        #expect(Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count)
    }

    @Test func `input is told once, and is readable until it has been read`() throws {
        let loop = try Loop()
        let (own, other) = try pair()
        defer { close(other) }
        let (channel, listener) = (SocketChannel(own, on: loop), Listener())
        try channel.begin(for: listener)
        defer { channel.close() }
        #expect(!channel.isReadable)
        write("hello", to: other)
        for _ in 0..<3 { _ = loop.runOnce(waits: false) }
        #expect(listener.told == ["input"] && channel.isReadable)
        #expect(read(channel, 3) == "hel" && channel.isReadable)
        #expect(read(channel) == "lo" && !channel.isReadable)
        write("!", to: other)
        _ = loop.runOnce(waits: false)
        #expect(listener.told == ["input", "input"] && read(channel) == "!")
        #expect(read(channel) == nil && !channel.isReadable)
    }

    @Test func `what came before an end can be read, then the end`() throws {
        let loop = try Loop()
        let (own, other) = try pair()
        let (channel, listener) = (SocketChannel(own, on: loop), Listener())
        try channel.begin(for: listener)
        defer { channel.close() }
        write("last", to: other)
        close(other)
        _ = loop.runOnce(waits: false)
        #expect(listener.told == ["gone", "input"])
        // Less than fits has come, and the end is still to be read.
        #expect(read(channel) == "last" && channel.isReadable)
        guard case .end = channel.read(into: UnsafeMutableRawBufferPointer(start: nil, count: 0)) else {
            Issue.record("there is no end")
            return
        }
        #expect(!channel.isReadable)
    }

    @Test func `who only ends its input is still there`() throws {
        let loop = try Loop()
        let (own, other) = try pair()
        defer { close(other) }
        let (channel, listener) = (SocketChannel(own, on: loop), Listener())
        try channel.begin(for: listener)
        defer { channel.close() }
        shutdown(other, Int32(SHUT_WR))
        _ = loop.runOnce(waits: false)
        #expect(listener.told == ["input"])
        #expect("yes".withCString { channel.write(UnsafeRawBufferPointer(start: $0, count: 3)) } == 3)
    }

    @Test func `what the kernel does not take is said, and when there is room again`() throws {
        let loop = try Loop()
        let (own, other) = try pair()
        defer { close(other) }
        let (channel, listener) = (SocketChannel(own, on: loop), Listener())
        try channel.begin(for: listener)
        defer { channel.close() }
        let bytes = [UInt8](repeating: 7, count: 4 << 20)
        let taken = try #require(bytes.withUnsafeBytes { channel.write($0) })
        #expect((1..<bytes.count).contains(taken))
        #expect(bytes.withUnsafeBytes { channel.write($0) } == 0)
        for _ in 0..<3 { _ = loop.runOnce(waits: false) }
        #expect(listener.told.isEmpty)
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while Glibc.read(other, &buffer, buffer.count) > 0 {}
        for _ in 0..<3 { _ = loop.runOnce(waits: false) }
        #expect(listener.told == ["output"])
        #expect(bytes.withUnsafeBytes { channel.write($0) } ?? 0 > 0)
    }

    @Test func `a write to who is gone fails without a signal`() throws {
        let loop = try Loop()
        let (own, other) = try pair()
        let (channel, listener) = (SocketChannel(own, on: loop), Listener())
        try channel.begin(for: listener)
        close(other)
        #expect("no".withCString { channel.write(UnsafeRawBufferPointer(start: $0, count: 2)) } == nil)
        channel.close()
        channel.close()
        #expect("no".withCString { channel.write(UnsafeRawBufferPointer(start: $0, count: 2)) } == nil)
        _ = loop.runOnce(waits: false)
        #expect(listener.told.isEmpty)
    }

    @Test func `one that nobody watches writes and closes, whatever its number`() throws {
        let loop = try Loop()
        let (own, other) = try pair()
        defer { close(other) }
        let high = fcntl(own, F_DUPFD_CLOEXEC, 900)
        close(own)
        let channel = SocketChannel(high, on: loop)
        #expect("bye".withCString { channel.write(UnsafeRawBufferPointer(start: $0, count: 3)) } == 3)
        channel.close()
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(Glibc.read(other, &buffer, 8) == 3 && Glibc.read(other, &buffer, 8) == 0)
    }

    @Test func `an event of a closed descriptor does not reach the next one with its number`() throws {
        let loop = try Loop()
        let (own, other) = try pair()
        let (next, nextOther) = try pair()
        let (first, second) = (Listener(), Listener())
        let (channel, other2) = (SocketChannel(own, on: loop), SocketChannel(next, on: loop))
        try channel.begin(for: first)
        try other2.begin(for: second)
        write("a", to: other)
        write("b", to: nextOther)
        let third = Listener()
        var replaced: SocketChannel?
        channel.close()
        let again = dup(nextOther)
        if again == own {
            let replacement = SocketChannel(again, on: loop)
            try replacement.begin(for: third)
            replaced = replacement
        }
        _ = loop.runOnce(waits: false)
        #expect(first.told.isEmpty && third.told.isEmpty && second.told == ["input"])
        replaced?.close()
        other2.close()
        close(other)
        close(nextOther)
    }
}
