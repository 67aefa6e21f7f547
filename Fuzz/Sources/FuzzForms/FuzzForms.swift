import Fuzzer

@testable import WebGateway

@main enum FuzzForms {
    static func main() { fuzz(read) }
}

/// What libFuzzer calls with each input: a form with files, as a page sends it, with the boundary «b». The first byte says in
/// which pieces it comes; they must make no difference to the files.
private func read(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes, count > 1 else { return 0 }
    let sent = UnsafeBufferPointer(start: bytes + 1, count: count - 1)
    let whole = Form(sent, inPiecesOf: sent.count)
    let pieces = Form(sent, inPiecesOf: 1 + Int(bytes[0] & 31))
    check(whole == pieces, "the pieces make no difference")
    check(whole.files.reduce(0) { $0 + $1.bytes.count } <= sent.count, "no more comes out than went in")
    check(
        whole.files.allSatisfy { !$0.name.isEmpty && !$0.name.contains { "/\\".contains($0) } },
        "a name is in no folder"
    )
    if let type = String(validating: sent, as: UTF8.self), let boundary = FormReader.boundary(type) {
        check((1...70).contains(boundary.utf8.count), "a boundary has a limit")
    }
    return 0
}

/// What was read of a form.
private struct Form: Equatable {
    struct File: Equatable {
        var name: String
        var bytes: [UInt8] = []
        var isWhole = false
    }

    var files: [File] = []
    /// How it ended.
    var end: FormReader.Event?

    init(_ sent: UnsafeBufferPointer<UInt8>, inPiecesOf size: Int) {
        var (reader, input) = (FormReader(boundary: "b"), [UInt8]())
        for start in stride(from: 0, to: sent.count, by: size) {
            let next = min(start + size, sent.count)
            input += sent[start..<next]
            take(&reader, &input, isAll: next == sent.count)
            if end != nil { return }
        }
    }

    private mutating func take(_ reader: inout FormReader, _ input: inout [UInt8], isAll: Bool) {
        while true {
            let event = reader.next(&input, isAll: isAll)
            switch event {
            case .file(let name): files.append(File(name: name))
            case .bytes(let bytes):
                check(bytes.count <= FormReader.pieceBytes, "a piece has a limit")
                files[files.count - 1].bytes += bytes
            case .fileEnd: files[files.count - 1].isWhole = true
            case .end, .broken: return end = event
            case .more: return check(!isAll, "with all bytes there, it ends")
            }
        }
    }
}
