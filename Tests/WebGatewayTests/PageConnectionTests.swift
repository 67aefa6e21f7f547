import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@testable import WebGateway

/// A page and its connection to the daemon, without either.
@Suite("A page's connection")
struct PageConnectionTests {
    private let loop = EmbeddedEventLoop()
    private let holdings: Holdings
    private let fair: Fairly
    private let ann = WebPeer.user("ann")

    init() {
        holdings = Holdings(loop) {}
        let pool = NIOThreadPool(numberOfThreads: 1)
        fair = Fairly(
            turns: Turns(loop),
            holdings: holdings,
            files: FairThread(pool, loop),
            parser: FairThread(pool, loop)
        )
    }

    private struct Ends {
        let page: EmbeddedChannel
        let daemon: EmbeddedChannel
        let connection: PageConnection
        let holding: Holding

        var readsPage: Bool { Self.reads(page) }
        var readsDaemon: Bool { Self.reads(daemon) }

        /// EmbeddedChannel only remembers the option.
        private static func reads(_ channel: EmbeddedChannel) -> Bool {
            channel.options.last { $0.option is ChannelOptions.Types.AutoReadOption }?.value as? Bool ?? true
        }

        /// What the page got, as bytes.
        func received() throws -> [UInt8] { try Self.all(of: page) }
        /// What the daemon got.
        func passed() throws -> [UInt8] { try Self.all(of: daemon) }

        private static func all(of channel: EmbeddedChannel) throws -> [UInt8] {
            var bytes: [UInt8] = []
            while let piece = try channel.readOutbound(as: ByteBuffer.self) { bytes += piece.readableBytesView }
            return bytes
        }
    }

    private func open(_ peer: WebPeer) throws -> Ends {
        let (page, daemon) = (EmbeddedChannel(loop: loop), EmbeddedChannel(loop: loop))
        for channel in [page, daemon] {
            channel.allowOptionsWhenClosed = true
            try channel.connect(to: SocketAddress(unixDomainSocketPath: "/x")).wait()
        }
        let holding = Holding(holdings, peer)
        let connection = PageConnection(
            page: page,
            daemon: daemon,
            session: "s",
            maxMessage: 4 << 20,
            fair,
            holding
        )
        try connection.attach()
        connection.start(ByteBuffer())
        return Ends(page: page, daemon: daemon, connection: connection, holding: holding)
    }

    private func frame(_ text: String, isFinal: Bool = true) -> ByteBuffer {
        ByteBuffer(bytes: [isFinal ? 0x81 : 0x01, 0x80 | UInt8(text.utf8.count), 0, 0, 0, 0] + text.utf8)
    }

    /// Lets what waits for its turn, or for memory, go on.
    private func goOn() { for _ in 0..<100 { loop.advanceTime(by: .milliseconds(1)) } }

    /// Something else that ann's connections keep.
    private func useUp(_ peer: WebPeer) -> Holding {
        let other = Holding(holdings, peer)
        other.add(Holdings.limit / 2)
        return other
    }

    @Test func `a user at the share gets nothing new from the daemon until something is read`() throws {
        let (own, neighbour) = (try open(ann), try open(.user("bob")))
        let other = useUp(ann)
        for ends in [own, neighbour] { try ends.daemon.writeInbound(ByteBuffer(string: "a reply\n")) }
        goOn()
        #expect(!own.readsDaemon && !own.readsPage)
        #expect(neighbour.readsDaemon && neighbour.readsPage)
        other.end()
        goOn()
        #expect(own.readsDaemon && own.readsPage)
        #expect(try String(decoding: own.received().dropFirst(2), as: UTF8.self) == "a reply")
    }

    @Test func `one connection of a user at the share may end the line that it has begun`() throws {
        let ends = [try open(ann), try open(ann)]
        let other = useUp(ann)
        for each in ends { try each.daemon.writeInbound(ByteBuffer(string: "half a li")) }
        goOn()
        #expect(ends.map(\.readsDaemon) == [true, false])
        try ends[0].daemon.writeInbound(ByteBuffer(string: "ne\n"))
        goOn()
        #expect(ends.map(\.readsDaemon) == [false, true], "then the other one")
        // Not a page that does not read.
        ends[1].page.isWritable = false
        ends[1].page.pipeline.fireChannelWritabilityChanged()
        try ends[0].daemon.writeInbound(ByteBuffer(string: "more"))
        goOn()
        #expect(ends.map(\.readsDaemon) == [true, false])
        other.end()
    }

    @Test func `a message that a user at the share has begun may be completed, within ten seconds`() throws {
        let (idle, own) = (try open(ann), try open(ann))
        let other = useUp(ann)
        try idle.page.writeInbound(frame("whole"))
        try own.page.writeInbound(frame("half", isFinal: false))
        goOn()
        #expect(!idle.readsPage && own.readsPage)
        loop.advanceTime(by: .seconds(10))
        // 1013 is 0x03F5.
        #expect(try own.received().dropFirst(2).starts(with: [0x03, 0xF5]))
        #expect(try idle.received().isEmpty)
        other.end()
        goOn()
        #expect(idle.readsPage)
    }

    @Test func `only who uses the most loses a page when all memory is in use`() throws {
        let (own, neighbour) = (try open(ann), try open(.user("bob")))
        let line = String(repeating: "x", count: 200 << 10)
        for ends in [own, neighbour] { try ends.daemon.writeInbound(ByteBuffer(string: line)) }
        goOn()
        let other = Holding(holdings, ann)
        other.add(Holdings.limit)
        for ends in [neighbour, own] { try ends.daemon.writeInbound(ByteBuffer(string: "x")) }
        goOn()
        #expect(try neighbour.received().isEmpty)
        #expect(try own.received().dropFirst(2).starts(with: [0x03, 0xF5]))
        other.end()
    }

    @Test func `what a page has sent before it was gone still counts, in its turn`() throws {
        let own = try open(ann)
        own.daemon.isWritable = false
        own.daemon.pipeline.fireChannelWritabilityChanged()
        let frames = (0..<1000).map { frame("call \($0)") }
        for frame in frames { try own.page.writeInbound(frame) }
        own.page.pipeline.fireChannelInactive()
        goOn()
        #expect(try own.passed().isEmpty && own.daemon.isActive, "the daemon takes nothing now")
        own.daemon.isWritable = true
        own.daemon.pipeline.fireChannelWritabilityChanged()
        goOn()
        let expected = (0..<1000).map { "call \($0)\n" }.joined()
        #expect(try String(decoding: own.passed(), as: UTF8.self) == expected)
        #expect(!own.daemon.isActive)
        // Not for ever.
        let late = try open(ann)
        late.daemon.isWritable = false
        late.daemon.pipeline.fireChannelWritabilityChanged()
        try late.page.writeInbound(frames[0])
        late.page.pipeline.fireChannelInactive()
        goOn()
        #expect(late.daemon.isActive)
        loop.advanceTime(by: .seconds(5))
        #expect(!late.daemon.isActive && late.holding.count < 100)
    }
}
