import JSON
import KioskRules
import QuickConnectClient

/// The messages between the window and its page, and the page's connections to the daemon.
///
/// A page gets nothing before its script runs: messages for it wait until the script asks (``PageFrame``). Each message
/// names its document. The engine's signal that another document is shown may come before or after that document's
/// first message, and the last messages of the previous document may come after both.
final class PageChannel {
    /// The separator between the frames of a message. JSON and addresses do not contain it.
    private static let between = "\u{1E}"
    private static let betweenByte: UInt8 = 0x1E
    /// How many of a page's requests for messages may wait here. One is enough; a page with many calls sends more.
    private static let maxReplies = 16
    /// How many connections a document may have. The page's script needs one; each counts towards the daemon's limit.
    private static let maxSockets = 8
    /// How much may wait for a page that does not ask for it, such as one that makes calls by addresses in a loop.
    private static let (maxFrames, maxFrameBytes) = (100_000, 64 << 20)
    /// The prefix of the ids of the window's calls, as in the original.
    private static let callPrefix = "objc_cb_"
    /// How long the last messages of a document that was left may take.
    private static let farewellTime = Duration.seconds(1)

    private struct SocketName: Hashable {
        var document: Substring
        var number: Int
    }

    private let paths: [String]
    private var sockets: [SocketName: PageSocket] = [:]
    /// The name of the current document, from its script; nil until the script has begun.
    private var document: Substring?
    /// Whether its script has begun since the engine began to load it.
    private var isFresh = false
    private var replies: [ScriptReply] = []
    /// Messages for the page, apart from the daemon's lines.
    private var frames: [PageFrame] = [] { didSet { if frames.isEmpty { frameBytes = 0 } } }
    private var frameBytes = 0
    /// Connections of documents that are gone, kept until the daemon has answered what was sent on them.
    private var left: [PageSocket] = []
    /// The completions of the window's calls, by number.
    private var results: [Int: (Result<JSONValue, PageFailure>) -> Void] = [:]
    /// Of all channels, because calls go over to the next one.
    private static var lastCall = 0
    /// Whether the page gets no connection yet, because nobody sees it.
    var isHeld = false { didSet { if !isHeld { openHeld() } } }
    /// The connections that it is to get then.
    private var held: [SocketName] = []
    var log: (MessageLog.Direction, String) -> Void = { _, _ in }
    var warn: (String) -> Void = { _ in }

    /// - Parameter paths: the paths of the daemon's socket to try.
    init(paths: [String]) { self.paths = paths }

    // MARK: From the page

    /// Takes a message of a page's script, which waits for the reply: its document's name, and frames.
    func take(_ message: String, _ reply: ScriptReply) {
        // By bytes: whole characters are slow to find in megabytes of calls.
        var parts = message.utf8.split(separator: Self.betweenByte)[...]
        guard let sender = parts.popFirst().map({ Substring($0) }) else { return }
        let read = parts.compactMap { PageFrame(String(Substring($0))) }
        if read.count < parts.count { warn("the page sent something that is not a message of its script") }
        if read.contains(where: { $0.kind == .document || $0.kind == .open }), sender != document {
            begin(sender)
        }
        for frame in read { obey(frame, of: sender) }
        guard sender == document else { return reply.give("") }
        replies.append(reply)
        // An empty reply settles its promise.
        while replies.count > Self.maxReplies { replies.removeFirst().give("") }
        notify()
    }

    private func obey(_ frame: PageFrame, of sender: Substring) {
        let name = SocketName(document: sender, number: frame.number)
        switch frame.kind {
        case .open: open(name)
        case .lines:
            log(.received, frame.text)
            sockets[name]?.send(frame.text)
        case .close: leave(name)
        case .result:
            log(.received, frame.text)
            settle(frame.text)
        default: break
        }
    }

    private func open(_ name: SocketName) {
        guard sockets[name] == nil, !held.contains(name) else { return }
        if isHeld, held.count < Self.maxSockets { return held.append(name) }
        guard !isHeld, sockets.keys.count(where: { $0.document == name.document }) < Self.maxSockets else {
            warn("the page already has \(Self.maxSockets) connections, the maximum")
            return frames.append(PageFrame(.close, name.number))
        }
        do throws(SocketPaths.NoDaemon) {
            let socket = try PageSocket(paths: paths)
            socket.changed = { [weak self] in self?.notify() }
            sockets[name] = socket
            frames.append(PageFrame(.open, name.number))
        } catch {
            frames.append(PageFrame(.close, name.number))
        }
    }

    private func openHeld() {
        let names = held
        held = []
        for name in names { open(name) }
        notify()
    }

    // MARK: To the page

    /// Sends the page a frame, once its script has begun.
    func say(_ frame: PageFrame) {
        guard hasRoom(for: frame) else {
            return warn("the page makes calls faster than it reads the answers: calls were dropped")
        }
        frameBytes += frame.text.utf8.count
        frames.append(frame)
        notify()
    }

    private func hasRoom(for frame: PageFrame) -> Bool {
        frames.count < Self.maxFrames && frameBytes + frame.text.utf8.count <= Self.maxFrameBytes
    }

    private func keepFrames(_ isKept: (PageFrame) -> Bool) {
        guard !frames.isEmpty else { return }
        frames = frames.filter(isKept)
        frameBytes = frames.reduce(0) { $0 + $1.text.utf8.count }
    }

    /// Everything goes into one reply.
    private func notify() {
        guard let document, !replies.isEmpty else { return }
        var texts = frames.map(\.line)
        frames = []
        let own = sockets.keys.filter { $0.document == document }.sorted { $0.number < $1.number }
        for name in own { texts += lines(of: name) }
        guard !texts.isEmpty else { return }
        replies.removeFirst().give(texts.joined(separator: Self.between))
    }

    private func lines(of name: SocketName) -> [String] {
        guard let socket = sockets[name] else { return [] }
        var texts: [String] = []
        if socket.hasLines {
            let text = String(decoding: socket.takeLines().dropLast(), as: UTF8.self)
            log(.sent, text)
            texts.append(PageFrame(.lines, name.number, text).line)
        }
        if let end = socket.end {
            sockets[name] = nil
            warn("a page's connection has ended: \(end)")
            texts.append(PageFrame(.close, name.number).line)
        }
        return texts
    }

    // MARK: Documents that come and go

    /// The engine begins to load another document.
    func loadBegins() { isFresh = false }

    /// The engine shows another document.
    func loadIsCommitted() {
        if !isFresh { leave() }
    }

    /// The process of the page has ended.
    func processIsGone() { leave() }

    private func begin(_ sender: Substring) {
        leave()
        document = sender
        isFresh = true
    }

    /// Ends what the old document waits for. Calls that it has sent are still done.
    private func leave() {
        guard let left = document else { return }
        document = nil
        (replies, held) = ([], [])
        LoopSource.after(Self.farewellTime) { [weak self] in self?.forget(left) }
        // Messages that have not reached a page yet are for the next one.
        keepFrames { $0.kind == .handlerCall || $0.kind == .urlCall }
        fail(except: Set(frames.filter { $0.kind == .handlerCall }.map(\.number)), "the page was left meanwhile")
    }

    /// Ends all: another page is shown, which gets what has reached none yet.
    func end(for next: PageChannel) {
        leave()
        next.results.merge(results) { $1 }
        results = [:]
        for frame in frames where frame.kind == .handlerCall || frame.kind == .urlCall { next.say(frame) }
        frames = []
        // Until its last calls are done.
        LoopSource.after(Self.farewellTime) { for name in self.sockets.keys { self.leave(name) } }
    }

    private func forget(_ left: Substring) {
        // The document may have returned from the history.
        guard left != document else { return }
        for name in sockets.keys where name.document == left { leave(name) }
    }

    /// Calls that were sent are still done: the daemon closes after its last reply.
    private func leave(_ name: SocketName) {
        held.removeAll { $0 == name }
        guard let socket = sockets.removeValue(forKey: name) else { return }
        left.append(socket)
        // The sockets are kept until then, whatever became of the page.
        socket.leave { [weak socket] in self.left.removeAll { $0 === socket } }
        // Bounds the connections that a page leaves behind when it is loaded again and again.
        if left.count > Self.maxSockets { left.removeFirst() }
    }

    // MARK: Handlers of the page

    /// Calls a handler of the page. Until the page's script has begun, the call waits.
    /// - Parameter completion: called once, even if the page goes away meanwhile; not if the call is given up.
    /// - Returns: the call's number; nil if it failed at once, since too many calls wait for the page.
    func callHandler(
        _ name: String,
        _ data: JSONValue,
        completion: @escaping (Result<JSONValue, PageFailure>) -> Void
    ) -> Int? {
        Self.lastCall += 1
        let number = Self.lastCall
        let id = Self.callPrefix + String(number)
        let message: JSONValue = ["handlerName": .string(name), "data": data, "callbackId": .string(id)]
        let frame = PageFrame(.handlerCall, number, message.text)
        guard results.count < Self.maxFrames, hasRoom(for: frame) else {
            completion(.failure(PageFailure(code: "overloaded", message: "too many calls wait for the page")))
            return nil
        }
        results[number] = completion
        log(.sent, frame.text)
        say(frame)
        return number
    }

    /// Calls a handler of the page whose answer nobody waits for.
    func callHandler(_ name: String) {
        let message: JSONValue = ["handlerName": .string(name)]
        log(.sent, message.text)
        say(PageFrame(.handlerCall, 0, message.text))
    }

    /// Forgets a call whose answer nobody waits for any more; the page need not hear of it if it has not yet.
    func giveUp(_ number: Int) {
        guard results.removeValue(forKey: number) != nil else { return }
        keepFrames { $0.kind != .handlerCall || $0.number != number }
    }

    private func settle(_ text: String) {
        guard let answer = (try? JSONParser.parse(text))?.objectValue, let id = answer["responseId"]?.stringValue,
            let number = Int(id.dropFirst(Self.callPrefix.count)),
            let completion = results.removeValue(forKey: number)
        else { return warn("the page answered a call that no longer waits for an answer") }
        guard let error = answer["error"]?.objectValue else {
            return completion(.success(answer["responseData"] ?? .null))
        }
        let code = error["code"]?.stringValue ?? "scriptFailed"
        let message = error["message"]?.stringValue ?? "the page gave no reason"
        completion(.failure(PageFailure(code: code, message: message)))
    }

    /// Fails all calls of the window: those that wait for a page, and those that wait for an answer.
    func reset() {
        keepFrames { $0.kind != .handlerCall }
        fail(except: [], "the bridge was reset")
    }

    private func fail(except kept: Set<Int>, _ reason: String) {
        let lost = results.filter { !kept.contains($0.key) }
        results = results.filter { kept.contains($0.key) }
        for completion in lost.values {
            completion(.failure(PageFailure(code: "unavailable", message: reason)))
        }
    }
}

/// Why a page's handler has no answer: a code of the protocol, and a sentence.
struct PageFailure: Error, Hashable {
    var code: String
    var message: String
}
