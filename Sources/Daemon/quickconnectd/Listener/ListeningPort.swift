internal import CLinux
internal import Glibc
import Linux
import Runtime

/// A listening socket on the loop. Where there is no descriptor or no memory for another connection, it stops for a moment: the
/// connection waits, so that the loop would try again at once, without end. No connection is lost.
final class ListeningPort: DescriptorWatcher {
    private let descriptor: Int32
    private let loop: Loop
    private let shortage: (_ reason: String) -> Void
    private let accept: (_ descriptor: Int32) -> Void
    private var isClosed = false
    private var lastReady = LoopTime.now()

    private static let pause = LoopSpan.milliseconds(200)
    /// How many connections are taken between two looks at the others: for each the kernel is asked who it is, in some files.
    private static let maxAtOnce = 4
    /// While calls are dear, newcomers get a quarter of the time, at most 4 ms at once: behind a thousand connections that
    /// come and go, one would wait for a call of each.
    private static let timeShare: Int64 = 4
    private static let maxTime = LoopSpan.milliseconds(4)

    /// - Parameters:
    ///   - shortage: gets the reason why connections wait, once for each attempt.
    ///   - accept: gets each connected socket, which does not block.
    init(
        _ descriptor: Int32,
        on loop: Loop,
        shortage: @escaping (_ reason: String) -> Void,
        accept: @escaping (_ descriptor: Int32) -> Void
    ) throws(SystemCallError) {
        self.descriptor = descriptor
        self.loop = loop
        self.shortage = shortage
        self.accept = accept
        try SystemCallError.check("fcntl") { fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) }
        try loop.watch(descriptor, for: .input, self)
    }

    func ready(_ readiness: Readiness) {
        let begin = LoopTime.now()
        let time = (begin - lastReady).nanoseconds / Self.timeShare
        let end = begin + .nanoseconds(min(time, Self.maxTime.nanoseconds))
        lastReady = begin
        var count = 0
        while count < Self.maxAtOnce || .now() < end {
            count += 1
            let connected = qc_accept(descriptor)
            guard connected < 0 else {
                accept(connected)
                continue
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EMFILE: wait("no descriptor is free (LimitNOFILE)")
            case ENFILE: wait("the system has no descriptor free")
            case ENOBUFS, ENOMEM: wait("no memory is free")
            case EAGAIN: break
            case let code: wait(SystemCallError.text(code))
            }
            return
        }
    }

    private func wait(_ reason: String) {
        shortage(reason)
        loop.change(descriptor, to: [])
        _ = loop.after(Self.pause) {
            if !self.isClosed { self.loop.change(self.descriptor, to: .input) }
        }
    }

    func close() {
        isClosed = true
        loop.forget(descriptor)
        Glibc.close(descriptor)
    }
}
