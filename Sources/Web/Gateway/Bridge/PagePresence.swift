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
    private static let lease = Array(SocketRule.leaseLine.utf8)

    /// Whether a line of the daemon is to the gateway, and not to the page.
    static func isLease(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        line.count == lease.count && line.elementsEqual(lease)
    }

    private let page: any Channel
    private let ping: ByteBuffer
    private let isOpen: () -> Bool

    /// - Parameter isOpen: whether the page is still to be looked after.
    init(_ page: any Channel, while isOpen: @escaping () -> Bool) {
        var frame: [UInt8] = []
        FrameWriter.append(.ping, UnsafeRawBufferPointer(start: nil, count: 0), to: &frame)
        (self.page, ping, self.isOpen) = (page, ByteBuffer(bytes: frame), isOpen)
        look()
    }

    private func look() {
        guard isOpen() else { return }
        if NIODeadline.now() - lastHeard > Self.patience { return page.close(promise: nil) }
        page.writeAndFlush(ping, promise: nil)
        page.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [weak self] in self?.look() }
    }
}
