internal import Accepting
internal import Glibc
internal import NIOCore
internal import NIOPosix

/// Accepts browsers' connections, up to a number, and has the kernel detect dead ones. For use on its event loop only.
final class Entrance {
    private let site: Site
    private let most: Int
    private let warn: (String) -> Void
    private var count = 0
    private var (refusals, shortages) = (RefusalNews(), RefusalNews())
    /// The address that people are given.
    var address = ""

    /// After that many milliseconds without an acknowledgement a connection counts as dead.
    private static let userTimeout: CInt = 30_000

    init(_ site: Site, most: Int, warn: @escaping (String) -> Void) {
        self.site = site
        self.most = most
        self.warn = warn
    }

    func accept(_ channel: any Channel) throws {
        guard count < most else { return refuse(channel) }
        count += 1
        channel.closeFuture.assumeIsolated().whenComplete { _ in self.count -= 1 }
        let clock = ConnectionClock()
        let http = HTTPHandlers()
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(clock)
        try http.add(to: pipeline)
        try pipeline.addHandler(RequestHandler(site, clock, http))
        try pipeline.withUnsafeTransportIfAvailable(of: CInt.self) { Self.watchPeer($0) }
    }

    private func refuse(_ channel: any Channel) {
        if refusals.take() { warn("refused a connection: \(most) are open") }
        channel.close(promise: nil)
    }

    /// For a listening channel, which then waits if no connection can be taken.
    func watch(_ channel: any Channel) throws {
        let pause = AcceptPause { reason in
            if self.shortages.take() { self.warn("connections wait until they can be taken: \(reason)") }
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
