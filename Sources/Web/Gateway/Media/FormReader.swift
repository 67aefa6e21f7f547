internal import Glibc
internal import Linux

/// Reads a form with files (`multipart/form-data`, RFC 7578), as its bytes come. A value, tested with bytes.
struct FormReader {
    enum Event: Equatable {
        /// A file begins.
        case file(String)
        case bytes([UInt8])
        /// The file has ended.
        case fileEnd
        /// The form has ended.
        case end
        /// Nothing until more has come.
        case more
        /// It is no form.
        case broken(String)
    }

    private enum State {
        /// Before the first boundary, where nothing means anything.
        case preamble
        case headers
        /// The contents of a part; whether it is a file.
        case part(isFile: Bool)
        /// Behind a boundary: a line break, or two hyphens.
        case boundary
        case end
    }

    private let delimiter: [UInt8]
    private var state = State.preamble
    private var hasBegun = false
    private var endsFile = false

    /// How long the headers of a part may be.
    private static let headerBytes = 8 << 10
    /// How many bytes of a file come at a time.
    static let pieceBytes = 64 << 10

    init(boundary: String) { delimiter = Array("\r\n--\(boundary)".utf8) }

    /// The boundary of a form with files; nil if it is none.
    /// - Parameter type: the header Content-Type.
    static func boundary(_ type: String) -> String? {
        guard type.prefix(while: { $0 != ";" && $0 != " " }).lowercased() == "multipart/form-data",
            let boundary = parameters(of: type)["boundary"]
        else { return nil }
        return (1...70).contains(boundary.utf8.count) ? boundary : nil
    }

    /// Takes the next event out of what has come.
    /// - Parameter isAll: whether nothing more comes.
    mutating func next(_ input: inout [UInt8], isAll: Bool) -> Event {
        // The line break before the first boundary is that of the request's head.
        if !hasBegun { input.insert(contentsOf: [0x0D, 0x0A], at: 0) }
        hasBegun = true
        while true {
            if endsFile {
                endsFile = false
                return .fileEnd
            }
            let event: Event? =
                switch state {
                case .preamble: readPart(&input, isFile: false)
                case .boundary: readBoundary(&input)
                case .headers: readHeaders(&input)
                case .part(let isFile): readPart(&input, isFile: isFile)
                case .end: .end
                }
            guard let event else { continue }
            guard event == .more, isAll else { return event }
            if case .preamble = state { return .broken("the form lacks the boundary that its Content-Type names") }
            return .broken("the form has no end")
        }
    }

    private mutating func readBoundary(_ input: inout [UInt8]) -> Event? {
        // Spaces may follow it (RFC 2046, 5.1.1).
        input.removeFirst(input.prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.count)
        guard input.count >= 2 else { return .more }
        let bytes = Array(input.prefix(2))
        input.removeFirst(2)
        switch bytes {
        case [0x0D, 0x0A]: state = .headers
        case [0x2D, 0x2D]: state = .end
        default: return .broken("a boundary of the form is not followed by a line break")
        }
        return nil
    }

    private mutating func readHeaders(_ input: inout [UInt8]) -> Event? {
        // A part without headers begins with the empty line.
        if input.starts(with: [0x0D, 0x0A]) {
            input.removeFirst(2)
            state = .part(isFile: false)
            return nil
        }
        guard let end = Self.find(Array("\r\n\r\n".utf8), in: input) else {
            // Of its end, three bytes may have come.
            return input.count > Self.headerBytes + 3 ? .broken("the head of a part is too long") : .more
        }
        guard end <= Self.headerBytes else { return .broken("the head of a part is too long") }
        guard let text = String(validating: input.prefix(end), as: UTF8.self) else {
            return .broken("the head of a part is not UTF-8")
        }
        input.removeFirst(end + 4)
        let name = Self.fileName(text)
        state = .part(isFile: name != nil)
        return name.map { .file($0) }
    }

    /// Passes on what cannot be the beginning of a boundary.
    private mutating func readPart(_ input: inout [UInt8], isFile: Bool) -> Event? {
        let end = Self.find(delimiter, in: input)
        let count = end ?? max(0, input.count - delimiter.count + 1)
        guard end != nil || count >= Self.pieceBytes || (!isFile && count > 0) else { return .more }
        // Of a last piece that is too long, the rest follows.
        let bytes = Array(input.prefix(min(count, Self.pieceBytes)))
        input.removeFirst(bytes.count)
        if end != nil, count <= Self.pieceBytes {
            input.removeFirst(delimiter.count)
            state = .boundary
            endsFile = isFile
        }
        return isFile && !bytes.isEmpty ? .bytes(bytes) : nil
    }

    private static func find(_ bytes: [UInt8], in input: [UInt8]) -> Int? {
        input.withUnsafeBytes { input in
            guard let base = input.baseAddress, let first = bytes.first else { return nil }
            var start = 0
            while start + bytes.count <= input.count,
                let found = memchr(base + start, Int32(first), input.count - bytes.count + 1 - start)
            {
                if memcmp(found, bytes, bytes.count) == 0 { return UnsafeRawPointer(found) - base }
                start = UnsafeRawPointer(found) - base + 1
            }
            return nil
        }
    }

    /// The name of the file of a part, without folders; nil if it is no file, or none was chosen.
    private static func fileName(_ head: String) -> String? {
        // A line that begins with a space goes on with the one before (RFC 5322, 2.2.3).
        let lines = head.replacing("\r\n ", with: " ").replacing("\r\n\t", with: " ").split(separator: "\r\n")
        guard let line = lines.first(where: { $0.lowercased().hasPrefix("content-disposition:") }) else { return nil }
        let parameters = parameters(of: String(line))
        // Browsers write a quote as %22.
        let plain = parameters["filename"]?.replacing("%22", with: "\"")
        let name = parameters["filename*"].flatMap(extended) ?? plain ?? ""
        let file = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? ""
        return file.isEmpty ? nil : String(file)
    }

    /// A text as RFC 8187 writes it: `UTF-8'LANGUAGE'm%C3%A4.wav`; nil if it is none, or in another encoding.
    private static func extended(_ text: String) -> String? {
        let parts = text.split(separator: "'", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        return PagePath.decode(parts[2].utf8)
    }

    /// The parameters of a header, such as `form-data; name="f"; filename="a.wav"`, by their names in lower case.
    private static func parameters(of header: String) -> [String: String] {
        var (parameters, rest) = ([String: String](), Substring(header).utf8)
        while let start = rest.firstIndex(of: UInt8(ascii: ";")) {
            rest = rest[start...].dropFirst().drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            let name = rest.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
            rest = rest[name.endIndex...]
            guard rest.first == UInt8(ascii: "=") else { continue }
            rest.removeFirst()
            parameters[Substring(name).lowercased()] = value(&rest)
        }
        return parameters
    }

    /// Takes a value, a word or a text in quotes.
    private static func value(_ rest: inout Substring.UTF8View) -> String {
        guard rest.first == UInt8(ascii: "\"") else {
            var word = rest.prefix { $0 != UInt8(ascii: ";") }
            rest = rest[word.endIndex...]
            while word.last == UInt8(ascii: " ") { word.removeLast() }
            return String(Substring(word))
        }
        rest.removeFirst()
        var text: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            // Others than these are those of Windows' paths, as some browsers sent them.
            let isEscape = byte == UInt8(ascii: "\\") && (rest.first == UInt8(ascii: "\"") || rest.first == byte)
            text.append(isEscape ? rest.removeFirst() : byte)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
