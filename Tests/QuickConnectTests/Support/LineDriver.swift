import QuickConnect
import Synchronization

/// Gives a connection what its client sends, line by line, as a listener does.
final class LineDriver: Sendable {
    private struct State {
        var reader: MessageReader
        var table = FrontController.CurrentTable()
    }

    let connection: Connection
    private let state: Mutex<State>

    init(_ connection: Connection) {
        self.connection = connection
        let depth = connection.frontController.limits.depth
        state = Mutex(State(reader: MessageReader(maximumDepth: depth)))
    }

    /// Takes one line, without its line break. An empty one is ignored.
    func receive(_ line: [UInt8]) {
        guard !line.isEmpty else { return }
        state.withLock { state in line.withUnsafeBufferPointer { receive($0, &state) } }
    }

    private func receive(_ line: UnsafeBufferPointer<UInt8>, _ state: inout State) {
        switch state.reader.read(line) {
        case .message(let message):
            connection.receive(message, &state.table, form: WireForm(firstByte: line.first))
            state.reader.giveBack(message)
        case .batch(var batch):
            while let member = batch.next() {
                let message = state.reader.read(member)
                connection.receive(message, &state.table, form: .bridge)
                state.reader.giveBack(message)
            }
        }
    }

    /// Takes the beginning of a line that is longer than the limit.
    func receiveOverlongLine(_ start: [UInt8]) {
        start.withUnsafeBufferPointer { connection.receiveOverlongLine($0) }
    }
}

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
