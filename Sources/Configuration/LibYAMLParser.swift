internal import CYAML

/// The owner of a `yaml_parser_t` and of the text that it reads.
///
/// libyaml keeps the addresses of both between calls, so they are on the heap until this value ends.
struct LibYAMLParser: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let text: UnsafeMutableBufferPointer<UInt8>

    init(_ text: String) throws(YAMLMistake) {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            throw YAMLMistake(message: "no memory is left to read it", line: 1, column: 1)
        }
        self.parser = parser
        self.text = .allocate(capacity: text.utf8.count)
        _ = self.text.initialize(from: text.utf8)
        yaml_parser_set_input_string(parser, self.text.baseAddress, self.text.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        text.deallocate()
    }

    /// Reads the next document, which is empty after the last one. The caller must delete it.
    func load() throws(YAMLMistake) -> yaml_document_t {
        var document = yaml_document_t()
        guard yaml_parser_load(parser, &document) == 1 else {
            if let tab = tab(inLine: Int(parser.pointee.problem_mark.line)) { throw tab }
            let problem = parser.pointee.problem.map { String(cString: $0) } ?? "it cannot be read"
            throw YAMLMistake("not YAML: \(problem)", parser.pointee.problem_mark)
        }
        return document
    }

    /// The mistake of a tab at the beginning of a line, which libyaml takes for the beginning of a value.
    private func tab(inLine number: Int) -> YAMLMistake? {
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.indices.contains(number) else { return nil }
        let indentation = lines[number].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard let tab = indentation.firstIndex(of: UInt8(ascii: "\t")) else { return nil }
        let column = indentation.distance(from: indentation.startIndex, to: tab) + 1
        return YAMLMistake(message: "YAML is not indented by tabs: use spaces", line: number + 1, column: column)
    }
}

extension YAMLMistake {
    init(_ message: String, _ mark: yaml_mark_t) {
        self.init(message: message, line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }
}
