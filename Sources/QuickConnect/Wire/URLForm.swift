import JSON

/// QuickConnect's form of a line: `call?cmd=…&msg=…&id=…`, read by key, in any order.
public enum URLForm {
    /// Reads a line. What it is made of is kept in `bytes`.
    static func read(
        _ line: UnsafeBufferPointer<UInt8>,
        into bytes: inout SharedBytes,
        maximumDepth: Int
    ) -> IncomingMessage {
        bytes.reset(capacity: line.count)
        var fields = Fields()
        do throws(Problem) {
            try fields.read(line, into: &bytes)
            guard let command = fields.command else { throw Problem("'cmd' is missing") }
            let message = try fields.message(&bytes, maximumDepth: maximumDepth)
            return .call(
                Request(
                    bytes,
                    command: fields.moved(command),
                    id: fields.id.map(fields.moved),
                    message: message.range,
                    items: message.items,
                    form: .url
                )
            )
        } catch {
            return .unreadable(
                UnreadableMessage(
                    error.code,
                    error.message,
                    command: fields.command.map { bytes.text($0) },
                    id: fields.id.map { bytes.text($0) }
                )
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

    /// Where the decoded values of a line's keys are.
    private struct Fields {
        private(set) var command: Range<Int>?
        private(set) var id: Range<Int>?
        private var text: Range<Int>?
        private var problem: Problem?

        private static let prefix = 5

        /// Reads all pairs, also behind a bad one, so that the error reply finds its id.
        mutating func read(
            _ line: UnsafeBufferPointer<UInt8>,
            into bytes: inout SharedBytes
        ) throws(Problem) {
            guard line.starts(with: "call?") else { throw Problem("a line begins with 'call?', '{' or '['") }
            var start = Self.prefix
            while start <= line.count {
                let end = line.firstIndex(of: UInt8(ascii: "&"), from: start) ?? line.count
                readPair(UnsafeBufferPointer(rebasing: line[start..<end]), into: &bytes)
                start = end + 1
            }
            if let problem { throw problem }
        }

        private mutating func readPair(_ pair: UnsafeBufferPointer<UInt8>, into bytes: inout SharedBytes) {
            if pair.starts(with: "cmd=") {
                command = value("cmd", of: pair, before: command, into: &bytes)
                if command?.isEmpty ?? false { fail { "'cmd' is empty" } }
            } else if pair.starts(with: "id=") {
                id = value("id", of: pair, before: id, into: &bytes)
                guard let range = id, range.count > Limits.idBytes else { return }
                id = nil
                fail { "'id' is longer than \(Limits.idBytes) bytes" }
            } else if pair.starts(with: "msg=") {
                text = value("msg", of: pair, before: text, into: &bytes)
            } else if let equals = pair.firstIndex(of: UInt8(ascii: "="), from: 0) {
                fail { "unknown key '\(Self.excerpt(pair[..<equals]))'" }
            } else {
                fail { "'\(Self.excerpt(pair[...]))' is no key=value pair" }
            }
        }

        /// Only the first problem is told.
        private mutating func fail(_ message: () -> String) { problem = problem ?? Problem(message()) }

        private mutating func value(
            _ key: StaticString,
            of pair: UnsafeBufferPointer<UInt8>,
            before: Range<Int>?,
            into bytes: inout SharedBytes
        ) -> Range<Int>? {
            guard before == nil else {
                fail { "'\(key)' is given twice" }
                return before
            }
            do throws(PercentEncoding.Failure) {
                let encoded = UnsafeBufferPointer(rebasing: pair[(key.utf8CodeUnitCount + 1)...])
                return try PercentEncoding.decode(encoded, into: &bytes)
            } catch {
                fail { "'\(key)' \(error.message)" }
                return nil
            }
        }

        /// As much of the bytes as a message should show.
        private static func excerpt(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
            let text = String(decoding: bytes.prefix(160), as: UTF8.self)
            return String(String.UnicodeScalarView(text.unicodeScalars.prefix(40)))
        }

        // MARK: The message

        /// By how much the command and the id have moved, where the bytes were written anew.
        private var offset = 0

        func moved(_ range: Range<Int>) -> Range<Int> { (range.lowerBound + offset)..<(range.upperBound + offset) }

        /// Checks the message; text that is not JSON is one parameter, a string.
        mutating func message(_ bytes: inout SharedBytes, maximumDepth: Int) throws(Problem) -> MessageItems {
            guard let text, !text.isEmpty, !bytes.slice(text).equals("undefined") else { return MessageItems() }
            do throws(JSONError) {
                return try json(text, &bytes, maximumDepth: maximumDepth)
            } catch {
                guard case .syntax = error else { throw Problem("'msg' has \(error.message)", code: error.code) }
                return string(text, &bytes)
            }
        }

        private func json(
            _ text: Range<Int>,
            _ bytes: inout SharedBytes,
            maximumDepth: Int
        ) throws(JSONError) -> MessageItems {
            var scanner = JSONScanner(bytes.slice(text), maximumDepth: maximumDepth)
            scanner.skipWhiteSpace()
            let message = try MessageItems(&scanner, depth: 0, offset: text.lowerBound)
            try scanner.finish()
            if let problem = scanner.problem { throw problem }
            // White space that would end a line, where the message is passed on.
            if bytes.slice(text).contains(where: { $0 == 0x0A || $0 == 0x0D }) {
                for lineBreak in [0x0A, 0x0D] as [UInt8] { bytes.replace(lineBreak, with: UInt8(ascii: " "), in: text) }
            }
            return message
        }

        /// The text as a JSON string, behind which the command and the id are.
        private mutating func string(_ text: Range<Int>, _ bytes: inout SharedBytes) -> MessageItems {
            let quoted = OutputBuffer(capacity: text.count + 64)
            quoted.append(json: bytes.slice(text))
            var anew = SharedBytes(capacity: quoted.count + bytes.count)
            quoted.withBytes { anew.append($0) }
            anew.append(bytes)
            bytes = anew
            offset = quoted.count
            return MessageItems(one: 0..<quoted.count)
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the bytes begin with an ASCII text.
    @inline(__always)
    func starts(with text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard count >= length else { return false }
        for index in 0..<length where self[index] != text.utf8Start[index] { return false }
        return true
    }

    func equals(_ text: StaticString) -> Bool { count == text.utf8CodeUnitCount && starts(with: text) }

    /// The index of the first such byte at or behind `start`.
    @inline(__always)
    func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        var index = start
        while index < count {
            if self[index] == byte { return index }
            index += 1
        }
        return nil
    }
}

extension SharedBytes {
    mutating func replace(_ byte: UInt8, with other: UInt8, in range: Range<Int>) {
        rewrite(from: range.lowerBound) { bytes in
            for index in 0..<range.count where bytes[index] == byte { bytes[index] = other }
            return bytes.count
        }
    }
}
