import QuickConnect

/// All messages of a line.
func messages(of line: [UInt8], maximumDepth: Int = 512) -> [IncomingMessage] {
    var reader = MessageReader(maximumDepth: maximumDepth)
    return line.withUnsafeBufferPointer { line in
        switch reader.read(line) {
        case .message(let message): return [message]
        case .batch(var batch):
            var messages: [IncomingMessage] = []
            while let member = batch.next() { messages.append(reader.read(member)) }
            return messages
        }
    }
}
