import Actions
import Fuzzer

@main enum FuzzActions {
    static func main() { fuzz(read) }
}

/// What libFuzzer calls with each input: what a browser's extension writes to the native host, addresses of pages, and the
/// files of what is allowed. The first byte says in which pieces the messages come; they must make no difference.
private func read(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes, count > 1 else { return 0 }
    let sent = UnsafeRawBufferPointer(start: bytes + 1, count: count - 1)
    let whole = hear(sent, inPiecesOf: sent.count)
    let pieces = hear(sent, inPiecesOf: 1 + Int(bytes[0] & 31))
    check(whole.frames == pieces.frames, "the pieces make no difference to the messages")
    check(whole.isBroken == pieces.isBroken, "the pieces make no difference to the end")
    for case .message(let message) in whole.frames { _ = try? BrowserRequest(message) }
    _ = try? BrowserRequest(Array(sent))
    if let text = String(validating: sent, as: UTF8.self) { read(text) }
    return 0
}

private func read(_ text: String) {
    if let origin = WebOrigin(text) {
        check(WebOrigin(origin.description) == origin, "an origin is written as it is read")
        check(Site(origin.description)?.contains(origin) == true, "a site contains its own pages")
    }
    if let site = Site(text) { check(Site(site.description) == site, "a site is written as it is read") }
    if let allowed = try? AllowedActions(text) {
        check((try? AllowedActions(allowed.text)) == allowed, "what is allowed is written as it is read")
    }
    _ = SavedScripts(text)
    _ = ActionRequest(text, token: "")
}

private let limit = 100

private func hear(
    _ sent: UnsafeRawBufferPointer,
    inPiecesOf size: Int
) -> (frames: [MessageFrames.Frame], isBroken: Bool) {
    var reader = MessageFrames(limit: limit)
    var frames: [MessageFrames.Frame] = []
    var start = 0
    while start < sent.count {
        let end = min(start + size, sent.count)
        frames += reader.read(UnsafeRawBufferPointer(rebasing: sent[start..<end]))
        start = end
    }
    return (frames, reader.isBroken)
}
