internal import Concurrency
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Accepts browsers' connections, up to a number, and has the kernel detect dead ones. For use on its event loop only.
final class WebListener {
    private let site: WebSite
    private let warn: (String) -> Void
    private(set) var slots: ConnectionSlots
    private var (refusals, shortages) = (LineLimit.refusals, LineLimit.refusals)
    /// The address that people are given.
    var address = ""

    /// After that many milliseconds without an acknowledgement a connection counts as dead.
    private static let userTimeout: CInt = 30_000
    /// While it is HTTP. A WebSocket's reads may be larger.
    static let receiveSizes = AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 256, maximum: 16 << 10)

    init(_ site: WebSite, most: Int, warn: @escaping (String) -> Void) {
        self.site = site
        self.warn = warn
        slots = ConnectionSlots(limit: most)
    }

    func accept(_ channel: any Channel) throws {
        let peer = channel.remoteAddress?.ipAddress.map { WebPeer.stranger(at: $0) } ?? ConnectionSlots.proxy
        let slot = ConnectionSlot(channel, Holding(site.fair.holdings, peer))
        guard close(for: slots.enter(slot)) else { return try refuse(slot) }
        channel.closeFuture.assumeIsolated().whenComplete { _ in
            self.slots.remove(slot)
            slot.holding.end()
        }
        let clock = ConnectionClock()
        let gate = RequestGate(site.fair.turns, slot.holding, clock)
        let http = HTTPHandlers()
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(gate)
        try http.add(to: pipeline)
        let handler = RequestHandler(site, slot, gate, clock, http) { self.move(slot, to: $0) }
        try pipeline.addHandler(handler)
        try pipeline.withUnsafeTransportIfAvailable(of: CInt.self) { Self.watchPeer($0) }
    }

    /// A request says for whom its connection counts.
    /// - Returns: false if that peer has too many connections.
    private func move(_ slot: ConnectionSlot, to peer: WebPeer) -> Bool { close(for: slots.move(slot, to: peer)) }

    private func close(for entry: ConnectionSlots.Entry) -> Bool {
        switch entry {
        case .enters: return true
        case .refused: return false
        case .replaces(let old):
            old.channel.close(promise: nil)
            return true
        }
    }

    private func refuse(_ slot: ConnectionSlot) throws {
        let count = slots.peers[slot.peer]?.count ?? 0
        if refusals.takes() {
            warn("refused a connection of \(slot.peer.words): \(count) are open, of \(slots.count) in all")
        }
        let response = Response.overloaded("\(slot.peer.words) has too many connections")
        let request = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
        let head = site.responseHead(response, to: request, host: nil, isLast: true)
        let channel = slot.channel
        try channel.pipeline.syncOperations.addHandler(HTTPResponseEncoder())
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        if case .bytes(let bytes) = response.body {
            channel.write(HTTPServerResponsePart.body(.byteBuffer(bytes)), promise: nil)
        }
        channel.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { _ in channel.close(promise: nil) }
    }

    /// For a listening channel, which then waits if no connection can be taken.
    func watch(_ channel: any Channel) throws {
        let pause = AcceptPause { reason in
            if self.shortages.takes() { self.warn("connections wait until they can be taken: \(reason)") }
        }
        try channel.pipeline.syncOperations.addHandler(pause, position: .first)
    }

    /// Our own pings would wake the device for each page; the kernel's do not. On a Unix socket they have no meaning.
    private static func watchPeer(_ descriptor: CInt) {
        set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        let tcp = CInt(IPPROTO_TCP)
        set(descriptor, tcp, TCP_NODELAY, 1)
        set(descriptor, tcp, TCP_KEEPIDLE, 60)
        set(descriptor, tcp, TCP_KEEPINTVL, 10)
        set(descriptor, tcp, TCP_KEEPCNT, 3)
        set(descriptor, tcp, TCP_USER_TIMEOUT, userTimeout)
    }

    private static func set(_ descriptor: CInt, _ level: CInt, _ option: CInt, _ value: CInt) {
        var value = value
        _ = setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
    }
}
