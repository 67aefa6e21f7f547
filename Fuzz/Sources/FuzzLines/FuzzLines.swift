import Fuzzer
import JSON
import QuickConnect

@main enum FuzzLines {
    static func main() { fuzz(readLine) }
}

/// What libFuzzer calls with each input: a line, read as the daemon reads it. Two readings of one thing must agree.
private func readLine(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let line = UnsafeBufferPointer(start: bytes, count: count)
    guard count > 0, !line.contains(UInt8(ascii: "\n")) else { return 0 }
    compareJSON(line)
    var newReader = MessageReader()
    switch (reader.read(line), newReader.read(line)) {
    case (.message(let message), .message(let same)): look(at: message, same)
    case (.batch(var batch), .batch(var others)):
        while let member = batch.next(), let other = others.next() {
            look(at: reader.read(member), newReader.read(other))
        }
    default: check(false, "a line is a batch whoever reads it")
    }
    return 0
}

/// Reads all inputs, as that of a loop reads the lines of all its connections. libFuzzer has one thread.
nonisolated(unsafe) private var reader = MessageReader()

/// Looks at what the reader of all inputs has read, which must be what a new one reads, and gives it back.
private func look(at message: consuming IncomingMessage, _ same: IncomingMessage) {
    look(at: message)
    compare(message, same)
    reader.giveBack(message)
}

private func compare(_ message: IncomingMessage, _ same: IncomingMessage) {
    guard case .call(let request) = message, case .call(let other) = same else { return }
    check(request.command == other.command && request.id == other.id, "a call has nothing of those before it")
    check(request.message?.value == other.message?.value, "nor has its message")
    check(request.parameters == other.parameters, "nor have its parameters")
}

/// Every part of a message that a command object may ask for.
private func look(at message: IncomingMessage) {
    guard case .call(let request) = message else { return }
    for index in 0..<request.parameterCount {
        let text = request.parameter(index)
        let value = text.value
        check(text.withBytes { try? JSONParser.parse($0.span) } == value, "a parameter is what it was checked as")
        check(text.stringValue == value.stringValue, "a string is the same, however it is asked for")
        text.forEachMember { name, member in
            check(value.objectValue?[name] != nil, "a member is there")
            return member.count >= 0
        }
    }
    check(request.id.map { $0.utf8.count <= Limits.idBytes } ?? true, "an id is short")
    check(!request.command.isEmpty, "a call has a command")
}

/// What is written is read back as the same.
private func compareJSON(_ line: UnsafeBufferPointer<UInt8>) {
    guard let value = try? JSONParser.parse(line.span) else { return }
    let again = try? JSONParser.parse(value.text)
    check(again == value, "a value is what it was written as")
}
