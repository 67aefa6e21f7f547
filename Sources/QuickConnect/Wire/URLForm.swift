public import JSON

/// Reads `call?cmd=…&msg=…&id=…`, by key, in any order.
public enum URLForm {
    public static func read(_ line: borrowing Span<UInt8>, maximumDepth: Int = JSONParser.defaultDepth)
        -> IncomingMessage
    {
        var fields = Fields()
        do throws(Problem) {
            try fields.read(line)
            guard let command = fields.command else { throw Problem("'cmd' is missing") }
            let parameters = try fields.parameters(maximumDepth: maximumDepth)
            return .call(Request(command, parameters: parameters, id: fields.id, form: .url))
        } catch {
            return .unreadable(
                UnreadableMessage(command: fields.command, id: fields.id, code: error.code, message: error.message)
            )
        }
    }

    private struct Problem: Error {
        var code = CommandError.Code.badRequest
        var message: String

        init(_ message: String, code: CommandError.Code = .badRequest) {
            self.message = message
            self.code = code
        }
    }

    private struct Fields {
        var command: String?
        var id: String?
        private var message: String?

        private static let prefix = 5

        /// Reads all pairs, also behind a bad one, so that the error reply finds its id.
        mutating func read(_ line: borrowing Span<UInt8>) throws(Problem) {
            guard line.starts(with: "call?") else { throw Problem("a line begins with 'call?', '{' or '['") }
            var firstProblem: Problem?
            var start = Self.prefix
            while start <= line.count {
                let end = line.firstIndex(of: UInt8(ascii: "&"), from: start) ?? line.count
                do throws(Problem) {
                    try readPair(line.extracting(start..<end))
                } catch {
                    firstProblem = firstProblem ?? error
                }
                start = end + 1
            }
            if let firstProblem { throw firstProblem }
        }

        private mutating func readPair(_ pair: borrowing Span<UInt8>) throws(Problem) {
            if pair.starts(with: "cmd=") {
                let text = try Self.value(of: "cmd", in: pair, isTaken: command != nil)
                guard !text.isEmpty else { throw Problem("'cmd' is empty") }
                command = text
            } else if pair.starts(with: "id=") {
                let text = try Self.value(of: "id", in: pair, isTaken: id != nil)
                guard text.utf8.count <= Limits.idBytes else {
                    throw Problem("'id' is longer than \(Limits.idBytes) bytes")
                }
                id = text
            } else if pair.starts(with: "msg=") {
                message = try Self.value(of: "msg", in: pair, isTaken: message != nil)
            } else if let equals = pair.firstIndex(of: UInt8(ascii: "=")) {
                throw Problem("unknown key '\(Self.start(of: pair.extracting(first: equals)))'")
            } else {
                throw Problem("'\(Self.start(of: pair))' is no key=value pair")
            }
        }

        private static func value(
            of key: String,
            in pair: borrowing Span<UInt8>,
            isTaken: Bool
        ) throws(Problem) -> String {
            guard !isTaken else { throw Problem("'\(key)' is given twice") }
            do throws(PercentEncoding.Failure) {
                return try PercentEncoding.decode(pair.extracting(droppingFirst: key.utf8.count + 1))
            } catch {
                throw Problem("'\(key)' \(error.message)")
            }
        }

        /// As much of the bytes as a message should show.
        private static func start(of bytes: borrowing Span<UInt8>) -> String {
            let text = String(decoding: bytes.extracting(first: 160))
            return String(String.UnicodeScalarView(text.unicodeScalars.prefix(40)))
        }

        /// The parameters that `msg` stands for; text that is not JSON is one parameter.
        func parameters(maximumDepth: Int) throws(Problem) -> [JSONValue] {
            guard let message, !message.isEmpty else { return [] }
            do throws(JSONError) {
                return Request.parameters(of: try JSONParser.parse(message, maximumDepth: maximumDepth))
            } catch {
                if case .syntax = error { return [.string(message)] }
                throw Problem("'msg' has \(error.message)", code: error.code)
            }
        }
    }
}
