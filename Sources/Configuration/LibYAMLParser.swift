internal import CYAML

/// The owner of a `yaml_parser_t` and of the text that it reads.
///
/// libyaml keeps the addresses of both from one call to the next. So they lie on the heap, where they stay until this
/// value ends.
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

    /// Reads the next document, which is empty behind the last one. Whoever gets it deletes it.
    func load() throws(YAMLMistake) -> yaml_document_t {
        var document = yaml_document_t()
        guard yaml_parser_load(parser, &document) == 1 else {
            let problem = parser.pointee.problem.map { String(cString: $0) } ?? "it cannot be read"
            throw YAMLMistake("not YAML: \(problem)", parser.pointee.problem_mark)
        }
        return document
    }
}

extension YAMLMistake {
    init(_ message: String, _ mark: yaml_mark_t) {
        self.init(message: message, line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }
}
