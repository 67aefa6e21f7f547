internal import NIOCore

/// A part of a file of the media folder, read from the daemon piece by piece, each when the one before has been sent. For
/// use on its event loop only.
final class MediaStream {
    private let name: String
    private let tag: String
    private let calls: DaemonCalls
    private let sender: WebRequest.Sender
    private let loop: any EventLoop
    private var range: Range<Int>
    private var hasEnded = false

    /// The file is not the one with which the answer began.
    struct Changed: Error {}

    static let pieceBytes = FormReader.pieceBytes
    /// What a piece takes on its way, of its user's share: itself, its Base64, and the copy that is parsed.
    static let reserve = 256 << 10
    private static let pause = TimeAmount.milliseconds(50)

    /// - Parameter calls: of whose holding ``reserve`` has been taken.
    init(
        _ name: String,
        tag: String,
        _ range: Range<Int>,
        _ calls: DaemonCalls,
        _ sender: WebRequest.Sender,
        _ loop: any EventLoop
    ) {
        self.name = name
        self.tag = tag
        self.range = range
        self.calls = calls
        self.sender = sender
        self.loop = loop
    }

    var body: Response.BodyStream { Response.BodyStream(next: next, end: end) }

    private func next() -> EventLoopFuture<ByteBuffer?> {
        guard !range.isEmpty else { return loop.makeSucceededFuture(nil) }
        let (tag, call) = (tag, MediaCall.read(name, from: range.lowerBound, atMost: min(range.count, Self.pieceBytes)))
        return calls.make([call], for: sender).assumeIsolated().flatMap { replies -> EventLoopFuture<[UInt8]> in
            guard case .value(let text)? = replies.first else {
                return self.loop.makeFailedFuture(Failed(replies.first))
            }
            return self.calls.beside {
                guard let facts = MediaFacts(text), facts.tag == tag, !facts.data.isEmpty else { throw Changed() }
                return facts.data
            }
        }.map { data in
            self.range = self.range.dropFirst(data.count)
            return ByteBuffer(bytes: data)
        }.flatMapError { self.retry($0) }.nonisolated()
    }

    /// Who has used up a share waits; the deadline of the answer ends that.
    private func retry(_ error: any Error) -> EventLoopFuture<ByteBuffer?> {
        let code = (error as? DaemonRefusal)?.code ?? (error as? Failed)?.code
        guard code == "overloaded", !hasEnded else { return loop.makeFailedFuture(error) }
        let promise = loop.makePromise(of: ByteBuffer?.self)
        loop.assumeIsolated().scheduleTask(in: Self.pause) { self.next().cascade(to: promise) }
        return promise.futureResult
    }

    private func end() {
        guard !hasEnded else { return }
        hasEnded = true
        range = range.upperBound..<range.upperBound
        calls.holding.add(-Self.reserve)
        calls.release()
    }

    private struct Failed: Error {
        let code: String?

        init(_ reply: CallReply?) { code = reply?.errorCode }
    }
}
