import Fuzzer
import WebGateway

@main enum FuzzFrames {
    static func main() { fuzz(read) }
}

/// What libFuzzer calls with each input: what a browser sends over a WebSocket. The first byte says in which pieces it comes;
/// they must make no difference to what it says.
private func read(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes, count > 1 else { return 0 }
    let sent = UnsafeRawBufferPointer(start: bytes + 1, count: count - 1)
    let whole = hear(sent, inPiecesOf: sent.count)
    let pieces = hear(sent, inPiecesOf: 1 + Int(bytes[0] & 31))
    check(whole.lines == pieces.lines, "the pieces make no difference to the lines")
    // Of many pings at once only the newest are answered: in pieces there may be more answers, and the last ones are the same.
    let (newest, all) = (whole.answers.count, pieces.answers.count)
    check(whole.answers == pieces.answers.suffix(newest), "the pieces make no difference to what is answered")
    check(newest == all || newest >= 16 * 2, "no ping is left out but beside sixteen newer ones")
    check(whole.end == pieces.end, "the pieces make no difference to the end")
    check(whole.lines.count <= sent.count, "no more comes out than went in")
    check(whole.lines.isEmpty || whole.lines.last == UInt8(ascii: "\n"), "whole lines come out")
    check(String(validating: whole.lines, as: UTF8.self) != nil, "lines are text")
    return 0
}

private let limit = 200

private func hear(
    _ sent: UnsafeRawBufferPointer,
    inPiecesOf size: Int
) -> (lines: [UInt8], answers: [UInt8], end: FrameReader.End?) {
    var reader = FrameReader(limit: limit)
    var (lines, answers): ([UInt8], [UInt8]) = ([], [])
    var start = 0
    while start < sent.count {
        let end = min(start + size, sent.count)
        reader.read(UnsafeRawBufferPointer(rebasing: sent[start..<end]))
        let taken = reader.takeLines()
        check(taken.split(separator: UInt8(ascii: "\n")).allSatisfy { $0.count <= limit }, "a line has a limit")
        lines += taken
        answers += reader.takeAnswers()
        start = end
    }
    return (lines, answers, reader.end)
}
