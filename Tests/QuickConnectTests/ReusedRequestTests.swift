import JSON
import QuickConnect
import TestRig
import Testing

/// A loop reads its lines with one request, as long as nobody keeps it.
@Suite("A reader that gets its requests back")
struct ReusedRequestTests {
    @Test("reads each line as a new one does", arguments: 0..<2)
    func sameAsNew(shard: UInt64) {
        var lines = MixedLines(seed: shard)
        var reader = MessageReader()
        var wrong: [String] = []
        for _ in 0..<5_000 {
            let line = lines.next()
            var found: [String] = []
            reader.readAll(of: line) { found.append(words($0)) }
            if found != messages(of: line).map(words) { wrong.append(String(decoding: line, as: UTF8.self)) }
        }
        #expect(wrong == [])
    }

    @Test("writes over nothing that somebody keeps", arguments: 0..<2)
    func kept(shard: UInt64) {
        var lines = MixedLines(seed: 100 + shard)
        var reader = MessageReader()
        var kept: [(text: JSONText, words: String)] = []
        for count in 0..<20_000 {
            reader.readAll(of: lines.next()) { message in
                guard count % 5 == 0, case .call(let request) = message, request.parameterCount > 0 else { return }
                let text = request.parameter(request.parameterCount - 1)
                kept.append((text, words(text)))
            }
        }
        #expect(kept.count > 1000)
        #expect(kept.allSatisfy { words($0.text) == $0.words })
    }
}

extension MessageReader {
    /// Reads a line as a listener does: each message is given back before the next one is read.
    fileprivate mutating func readAll(of line: [UInt8], _ body: (IncomingMessage) -> Void) {
        line.withUnsafeBufferPointer { line in
            switch read(line) {
            case .message(let message):
                body(message)
                giveBack(consume message)
            case .batch(var batch):
                while let member = batch.next() {
                    let message = read(member)
                    body(message)
                    giveBack(consume message)
                }
            }
        }
    }
}

/// Nearly right lines, and right ones with any number of parameters.
private struct MixedLines {
    private var nearlyRight: LineGenerator
    private var random: SeededGenerator

    init(seed: UInt64) {
        nearlyRight = LineGenerator(seed: seed)
        random = SeededGenerator(seed: seed)
    }

    mutating func next() -> [UInt8] {
        switch random.below(4) {
        case 0: Array("call?cmd=\(name())&msg=\(list())&id=\(name())".utf8)
        case 1: Array(#"{"handlerName":"\#(name())","data":\#(list()),"callbackId":"\u0041\#(name())"}"#.utf8)
        default: nearlyRight.next()
        }
    }

    private mutating func name() -> String { String(repeating: "n", count: 1 + random.below(30)) }

    private mutating func list() -> String {
        let items = (0..<random.below(12)).map { _ in random.below(2) == 0 ? "\(random.below(1000))" : "\"\(name())\"" }
        return "[\(items.joined(separator: ","))]"
    }
}

/// All that a message says.
private func words(_ message: IncomingMessage) -> String {
    switch message {
    case .call(let request):
        let parameters = (0..<request.parameterCount).map { words(request.parameter($0)) }
        let message = request.message.map(words) ?? "-"
        return "\(request.form) \(request.command) \(request.id ?? "-") \(message) \(parameters)"
    case .answer(let id, _): return "answer \(id ?? "-")"
    case .unreadable(let problem): return "\(problem)"
    }
}

private func words(_ text: JSONText) -> String { text.withBytes { String(decoding: $0, as: UTF8.self) } }
