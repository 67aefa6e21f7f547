internal import Glibc

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
    private var endsFile = false

    /// How long the headers of a part may be.
    private static let headerBytes = 8 << 10
    /// How many bytes of a file come at a time.
    static let pieceBytes = 64 << 10

    init(boundary: String) { delimiter = Array("\r\n--\(boundary)".utf8) }

    /// The boundary of a form with files; nil if it is none.
    /// - Parameter type: the header Content-Type.
    static func boundary(_ type: String) -> String? {
        let parts = type.split(separator: ";").map { $0.drop { $0 == " " } }
        guard parts.first?.lowercased() == "multipart/form-data" else { return nil }
        guard let part = parts.first(where: { $0.lowercased().hasPrefix("boundary=") }) else { return nil }
        let boundary = part.dropFirst("boundary=".count).filter { $0 != "\"" }
        return (1...70).contains(boundary.utf8.count) ? String(boundary) : nil
    }

    /// Takes the next event out of what has come.
    /// - Parameter isAll: whether nothing more comes.
    mutating func next(_ input: inout [UInt8], isAll: Bool) -> Event {
        while true {
            if endsFile {
                endsFile = false
                return .fileEnd
            }
            let event: Event? =
                switch state {
                case .preamble: readPreamble(&input)
                case .boundary: readBoundary(&input)
                case .headers: readHeaders(&input)
                case .part(let isFile): readPart(&input, isFile: isFile)
                case .end: .end
                }
            guard let event else { continue }
            return event == .more && isAll ? .broken("the form has no end") : event
        }
    }

    /// The first boundary has no line break before it.
    private mutating func readPreamble(_ input: inout [UInt8]) -> Event? {
        let first = delimiter.dropFirst(2)
        guard input.count >= first.count else { return .more }
        guard input.starts(with: first) else {
            return .broken("the form does not begin with its boundary")
        }
        input.removeFirst(first.count)
        state = .boundary
        return nil
    }

    private mutating func readBoundary(_ input: inout [UInt8]) -> Event? {
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
        for line in head.split(separator: "\r\n") {
            guard line.lowercased().hasPrefix("content-disposition:"), let start = line.firstRange(of: "filename=\"")
            else {
                continue
            }
            // Browsers write a quote as %22.
            let name = line[start.upperBound...].prefix { $0 != "\"" }.replacing("%22", with: "\"")
            let file = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? ""
            return file.isEmpty ? nil : String(file)
        }
        return nil
    }
}
