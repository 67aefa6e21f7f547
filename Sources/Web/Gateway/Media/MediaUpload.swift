internal import JSON
internal import Linux
internal import NIOCore
internal import NIOHTTP1

/// Files on their way from a request's body to the daemon, a piece at a time: two pieces are kept, and the connection is
/// not read until the daemon has taken one. The files belong to the connection to the daemon, so nothing is left of
/// one that is not complete. For use on its event loop only.
final class MediaUpload {
    enum Source {
        /// The body is the file.
        case file(String, size: Int?)
        case form(FormReader)
    }

    private enum Step {
        case open(String, size: Int?)
        case write([UInt8])
        case close
        case end
        case wait
        case fail(Response)
    }

    private var source: Source
    /// What the daemon is told with the first piece of each file.
    private let options: JSONObject
    private var tag: String?
    private let sender: WebRequest.Sender
    private let calls: DaemonCalls
    private let promise: EventLoopPromise<Response>
    private var release: (() -> Void)?
    private var input: [UInt8] = []
    private var (isAll, isBusy) = (false, false)
    private var received = 0
    private var isAccepted = false
    private var file: (name: String, offset: Int)?
    private var saved: [JSONValue] = []
    /// Called when the body may go on.
    var proceed: () -> Void = {}

    /// What it keeps of its user's share: two pieces, and one more as Base64 in a line.
    static let reserve = 384 << 10
    private static let pieceBytes = MediaStream.pieceBytes

    /// - Parameters:
    ///   - options: what the daemon is told with the first piece of each file.
    ///   - release: called once, when it is over.
    init(
        _ source: Source,
        _ options: JSONObject,
        _ sender: WebRequest.Sender,
        _ calls: DaemonCalls,
        _ loop: any EventLoop,
        release: @escaping () -> Void
    ) {
        self.source = source
        self.options = options
        self.sender = sender
        self.calls = calls
        self.release = release
        promise = loop.makePromise(of: Response.self)
        calls.isHeld = true
    }

    /// The answer: when all is written, or as soon as something is refused.
    var answer: EventLoopFuture<Response> { promise.futureResult }

    /// Whether more of the body may come.
    var wantsMore: Bool { release != nil && !isAll && (isWaiting || input.count < Self.pieceBytes) && isOpen }
    /// Whether what has come is too little for the next step: of a form, the last bytes may be the beginning of a boundary.
    private var isWaiting = false
    /// Of a body that is one file nothing is taken before the daemon has accepted its name.
    private var isOpen: Bool { if case .file = source { isAccepted } else { true } }
    /// Whether the whole body has come.
    var hasAll: Bool { isAll }

    func begin() { step() }

    /// - Returns: whether a further piece is complete with it.
    func add(_ bytes: ByteBuffer) -> Bool {
        let before = received
        received += bytes.readableBytes
        input += bytes.readableBytesView
        step()
        return received / Self.pieceBytes > before / Self.pieceBytes
    }

    func end() {
        isAll = true
        step()
    }

    /// The client is gone, or was refused.
    func stop() {
        guard let release else { return }
        self.release = nil
        input = []
        calls.holding.add(-Self.reserve)
        // With the connection the daemon drops what is not complete.
        calls.release()
        release()
        promise.succeed(.error(.internalServerError, "internal", "the upload was ended"))
    }

    /// Nothing is written.
    func refuse(_ response: Response) { finish(response) }

    private func finish(_ response: Response) {
        guard release != nil else { return }
        promise.succeed(response)
        stop()
    }

    // MARK: Steps

    private func step() {
        guard !isBusy, release != nil else { return }
        isWaiting = false
        switch nextStep() {
        case .wait: isWaiting = true
        case .fail(let response): finish(response)
        case .end: finish(success)
        case .open(let name, let size):
            file = (FileType.stored(name), 0)
            var options = options
            options["begin"] = true
            if let size { options["size"] = .integer(Int64(size)) }
            write([], options)
        case .write(let bytes): write(bytes, [:])
        case .close:
            let (name, count) = file ?? ("", 0)
            write([], ["end": true, "describe": true]) { answer in
                let written = (try? JSONParser.parse(String(decoding: answer, as: UTF8.self)))?.objectValue
                self.tag = written?["tag"]?.stringValue
                self.saved.append(["file": .string(name), "bytes": .integer(Int64(count))])
                self.file = nil
            }
        }
    }

    private func nextStep() -> Step {
        switch source {
        case .file(let name, let size):
            guard file != nil else { return saved.isEmpty ? .open(name, size: size) : .end }
            if input.count >= Self.pieceBytes || (isAll && !input.isEmpty) {
                let piece = Array(input.prefix(Self.pieceBytes))
                input.removeFirst(piece.count)
                return .write(piece)
            }
            return isAll ? .close : .wait
        case .form(var reader):
            let event = reader.next(&input, isAll: isAll)
            source = .form(reader)
            switch event {
            case .file(let name): return .open(name, size: nil)
            case .bytes(let bytes): return .write(bytes)
            case .fileEnd: return .close
            case .more: return .wait
            case .broken(let message): return .fail(.error(.badRequest, "badRequest", message))
            case .end:
                // What follows the form means nothing.
                input = []
                guard isAll else { return .wait }
                return saved.isEmpty ? .fail(.error(.badRequest, "badRequest", "the form has no file")) : .end
            }
        }
    }

    private var success: Response {
        if case .file = source, let only = saved.first {
            let response = Response.json(only, .created)
            return tag.map { response.with("etag", MediaFacts.etag($0)) } ?? response
        }
        return .json(["files": .array(saved)], .created)
    }

    /// Writes bytes behind what the file has.
    private func write(_ bytes: [UInt8], _ options: JSONObject, then: @escaping ([UInt8]) -> Void = { _ in }) {
        guard let (name, offset) = file else { return }
        isBusy = true
        calls.beside { MediaCall.write(name, at: offset, bytes, options) }.assumeIsolated().flatMap { line in
            self.calls.make([line], for: self.sender)
        }.whenComplete { result in
            self.isBusy = false
            switch result {
            case .failure(let error):
                let response = try? Response.refusal(error)
                self.finish(response ?? .error(.internalServerError, "internal", "\(error)"))
            case .success(let replies):
                guard case .value(let answer)? = replies.first else {
                    return self.finish(Response(refusalOfMedia: replies.first))
                }
                self.isAccepted = true
                self.file = (name, offset + bytes.count)
                then(answer)
                self.step()
                self.proceed()
            }
        }
    }
}
