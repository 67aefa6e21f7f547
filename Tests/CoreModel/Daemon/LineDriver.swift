public import QuickConnect
import Synchronization

/// Gives a connection what its client sends, line by line, as a listener does.
public final class LineDriver: Sendable {
    private struct State {
        var reader: MessageReader
        var table = FrontController.CurrentTable()
    }

    public let connection: Connection
    private let state: Mutex<State>

    public init(_ connection: Connection) {
        self.connection = connection
        let depth = connection.frontController.limits.depth
        state = Mutex(State(reader: MessageReader(maximumDepth: depth)))
    }

    /// Takes one line, without its line break. An empty one is ignored.
    public func receive(_ line: [UInt8]) {
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
    public func receive(_ line: OverlongLine) {
        connection.receive(line)
    }
}
