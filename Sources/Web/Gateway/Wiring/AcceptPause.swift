internal import Glibc
import NIOCore

/// Stops taking connections for a moment when there is no descriptor or no memory for another one, and reports it.
///
/// The connection still waits, so the event loop would try again at once, without end. Add it at the front of the
/// pipeline of a listening channel. No connection is lost: those of the backlog are taken when there is room.
final class AcceptPause: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private static let pause = TimeAmount.milliseconds(200)
    /// accept(2): the process's limit, the system's, and no memory.
    private static let shortages: Set<CInt> = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

    private let report: (_ reason: String) -> Void

    /// - Parameter report: gets the reason, once for each attempt; on the event loop.
    init(report: @escaping (_ reason: String) -> Void) {
        self.report = report
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let failure = error as? IOError, Self.shortages.contains(failure.errnoCode) else {
            return context.fireErrorCaught(error)
        }
        report(Self.reason(failure.errnoCode))
        let channel = context.channel
        // Both fail only if the channel is closed, which ends it anyway.
        channel.setOption(.autoRead, value: false).whenFailure { _ in }
        channel.eventLoop.scheduleTask(in: Self.pause) {
            channel.setOption(.autoRead, value: true).whenFailure { _ in }
        }
    }

    private static func reason(_ code: CInt) -> String {
        switch code {
        case EMFILE: "no descriptor is free (LimitNOFILE)"
        case ENFILE: "the system has no descriptor free"
        default: "no memory is free"
        }
    }
}
