internal import CLinux
internal import NIOCore
internal import QuickConnect

/// Looks whether a page is still there to which something is leased, such as a motor, and closes its connection if not.
/// For use on its event loop only.
///
/// A page that is closed says so. One whose network is gone says nothing, and for other pages it is enough that the
/// kernel finds out after a minute. Questions wake its telephone, so only a page with a lease gets them. A browser answers
/// a ping by itself, through proxies (RFC 6455 5.5.2), and also while the page's script hangs, shows an alert or is put to
/// sleep. So a page that has said that its script answers gets the daemon's line instead, and no ping.
final class PagePresence {
    /// When anything came from the page last.
    var lastHeard = NIODeadline.now()
    /// When the page's machine last took something.
    private var lastTaken = NIODeadline.now()

    private static let pause = TimeAmount.seconds(2)
    private static let patience = TimeAmount.seconds(5)
    /// A browser takes a long answer, or one event after the other, for a script that hangs, too.
    private static let longestPatience = TimeAmount.seconds(30)
    private static let lines = [true, false].map { (isLeased: $0, line: Array(SocketRule.leaseLine($0).utf8)) }

    /// Whether something is leased to the page; nil: the daemon's line is to the page, and not to the gateway.
    static func isLeased(_ line: UnsafeBufferPointer<UInt8>) -> Bool? {
        lines.first { line.count == $0.line.count && line.elementsEqual($0.line) }?.isLeased
    }

    private let page: any Channel
    /// Whether its script answers the line.
    private let answers: Bool
    private let question: ByteBuffer
    private let isOpen: () -> Bool
    private let gone: () -> Void
    /// How many bytes the page's machine has taken.
    private var taken: UInt64 = 0
    /// More than questions are, and small events.
    private static let muchTaken: UInt64 = 4096

    /// - Parameters:
    ///   - answers: whether the page's script answers the line; else its browser, or its program, answers a ping.
    ///   - isOpen: whether the page is still to be looked after.
    ///   - gone: called once it is not there any more.
    init(_ page: any Channel, answers: Bool, while isOpen: @escaping () -> Bool, gone: @escaping () -> Void) {
        var frame: [UInt8] = []
        let line = answers ? Array(SocketRule.leaseLine(true).utf8) : []
        line.withUnsafeBytes { FrameWriter.append(answers ? .text : .ping, $0, to: &frame) }
        (self.page, self.answers, question, self.isOpen, self.gone) = (
            page, answers, ByteBuffer(bytes: frame), isOpen, gone
        )
        look()
    }

    private func look() {
        guard isOpen() else { return }
        askKernel()
        let now = NIODeadline.now()
        let isLate = answers && now - lastHeard > Self.longestPatience
        if isLate || now - max(lastHeard, lastTaken) > Self.patience { return gone() }
        page.writeAndFlush(question, promise: nil)
        page.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [weak self] in self?.look() }
    }

    /// While its user's share is used up the gateway reads no answers; and a question waits behind a long answer that goes
    /// out slowly. A browser also takes events while the script hangs; then none waits here. On a Unix socket the kernel
    /// knows nothing of this.
    private func askKernel() {
        var (silence, taken, unsent): (UInt32, UInt64, UInt32) = (0, 0, 0)
        let code = try? page.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) {
            qc_tcp_state($0, &silence, &taken, &unsent)
        }
        guard code == 0 else { return }
        let now = NIODeadline.now()
        let hasTakenMuch = taken >= self.taken &+ Self.muchTaken && (!answers || unsent > 0)
        lastTaken = hasTakenMuch ? now : max(lastTaken, now - .milliseconds(Int64(silence)))
        self.taken = taken
    }
}
