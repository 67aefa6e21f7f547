internal import CLinux
internal import NIOCore
internal import QuickConnect

/// Looks whether a page is still there to which something is leased, such as a motor, and closes its connection if not.
/// For use on its event loop only.
///
/// A page that is closed says so. One whose network is gone says nothing, and for other pages it is enough that the
/// kernel finds out after a minute. Pings wake its telephone, so only a page with a lease gets them; a browser answers
/// them by itself, and through proxies (RFC 6455 5.5.2).
final class PagePresence {
    /// When anything came from the page last.
    var lastHeard = NIODeadline.now()

    private static let pause = TimeAmount.seconds(2)
    private static let patience = TimeAmount.seconds(5)
    private static let lines = [true, false].map { (isLeased: $0, line: Array(SocketRule.leaseLine($0).utf8)) }

    /// Whether something is leased to the page; nil: the daemon's line is to the page, and not to the gateway.
    static func isLeased(_ line: UnsafeBufferPointer<UInt8>) -> Bool? {
        lines.first { line.count == $0.line.count && line.elementsEqual($0.line) }?.isLeased
    }

    private let page: any Channel
    private let ping: ByteBuffer
    private let isOpen: () -> Bool
    private let gone: () -> Void
    /// How many bytes the page's machine has taken.
    private var taken: UInt64 = 0
    /// More than pings are, and small events.
    private static let muchTaken: UInt64 = 4096

    /// - Parameters:
    ///   - isOpen: whether the page is still to be looked after.
    ///   - gone: called once it is not there any more.
    init(_ page: any Channel, while isOpen: @escaping () -> Bool, gone: @escaping () -> Void) {
        var frame: [UInt8] = []
        FrameWriter.append(.ping, UnsafeRawBufferPointer(start: nil, count: 0), to: &frame)
        (self.page, ping, self.isOpen, self.gone) = (page, ByteBuffer(bytes: frame), isOpen, gone)
        look()
    }

    private func look() {
        guard isOpen() else { return }
        askKernel()
        if NIODeadline.now() - lastHeard > Self.patience { return gone() }
        page.writeAndFlush(ping, promise: nil)
        page.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [weak self] in self?.look() }
    }

    /// While its user's share is used up the gateway reads no answers; and a ping waits behind a long answer that goes
    /// out slowly. On a Unix socket the kernel knows neither.
    private func askKernel() {
        var (silence, taken): (UInt32, UInt64) = (0, 0)
        let code = try? page.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) {
            qc_tcp_state($0, &silence, &taken)
        }
        guard code == 0 else { return }
        let now = NIODeadline.now()
        let hasTakenMuch = taken >= self.taken &+ Self.muchTaken
        lastHeard = hasTakenMuch ? now : max(lastHeard, now - .milliseconds(Int64(silence)))
        self.taken = taken
    }
}
