internal import Glibc

/// What has come from the daemon, in whole lines. Linear in the bytes, whatever the pieces they come in.
struct Inbox {
    /// What came of a look.
    enum Received: Equatable {
        /// Lines, each with its line break; none where nothing is there, or no line is whole yet.
        case lines([UInt8])
        /// The daemon has closed the connection.
        case closed
        /// The error number of recv(2).
        case failed(Int32)
    }

    /// The beginning of a line whose end has not come yet.
    private var rest: [UInt8] = []
    private static let pieceBytes = 65_536

    /// Takes in what is there now.
    mutating func receive(from socket: Int32) -> Received {
        var count = 0
        var code: Int32 = 0
        let piece = [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { buffer, filled in
            count = recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            code = errno
            filled = max(count, 0)
        }
        switch count {
        case 1...: return .lines(lines(with: piece))
        case 0: return .closed
        default: return code == EAGAIN || code == EINTR ? .lines([]) : code == ECONNRESET ? .closed : .failed(code)
        }
    }

    /// The lines that are whole with a piece more.
    mutating func lines(with piece: [UInt8]) -> [UInt8] {
        guard let last = piece.lastIndex(of: UInt8(ascii: "\n")) else {
            rest += piece
            return []
        }
        var lines = rest
        rest = Array(piece[(last + 1)...])
        if lines.isEmpty, rest.isEmpty { return piece }
        lines += piece[...last]
        return lines
    }

    /// Forgets the beginning of a line, with the connection that it came over.
    mutating func clear() { rest = [] }
}
