import JSON

/// A line that is nothing but `call?cmd=…&id=…` in characters that need no escape.
///
/// Where its command does nothing, such a line is answered as it stands, byte for byte, without making strings, a
/// request and a reply of it. It is read as ``URLForm`` reads it; every other line is left to that.
struct PlainCall {
    let command: Range<Int>
    /// The id; its bytes are also its encoded form.
    let id: Range<Int>

    /// Nil where the line has anything else.
    init?(_ line: borrowing Span<UInt8>) {
        guard line.starts(with: "call?cmd=") else { return nil }
        let isUnreserved = PercentEncoding.isUnreserved
        var index = 9
        while index < line.count, isUnreserved[Int(line[unchecked: index])] { index += 1 }
        command = 9..<index
        guard !command.isEmpty, line.count - index >= 4, line.extracting(index..<(index + 4)).starts(with: "&id=")
        else {
            return nil
        }
        index += 4
        let start = index
        while index < line.count, isUnreserved[Int(line[unchecked: index])] { index += 1 }
        guard index == line.count, index - start <= Limits.idBytes else { return nil }
        id = start..<index
    }
}

/// A command that everybody may call and that does nothing, and its reply up to the id.
struct EmptyCommand: Sendable {
    let name: [UInt8]
    let replyStart: [UInt8]

    init(_ name: String) {
        self.name = Array(name.utf8)
        var reply: [UInt8] = []
        URLForm.writeStart(command: name, to: &reply)
        reply.append("&msg=null&id=")
        replyStart = reply
    }

    func isNamed(_ bytes: borrowing Span<UInt8>) -> Bool {
        guard bytes.count == name.count else { return false }
        for index in 0..<bytes.count where bytes[unchecked: index] != name[index] { return false }
        return true
    }
}
