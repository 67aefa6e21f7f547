internal import CYAML
import JSON

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

    /// The next event. libyaml reads only as far as it must to know it.
    func next() throws(YAMLMistake) -> YAMLEvent {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else {
            let problem = parser.pointee.problem.map { String(cString: $0) } ?? "it cannot be read"
            // What no text may hold has no mark: libyaml meets it before lines are counted.
            if parser.pointee.error == YAML_READER_ERROR {
                let code = "U+" + String(parser.pointee.problem_value, radix: 16, uppercase: true)
                throw mistake("not YAML: \(problem): \(code)", at: Int(parser.pointee.problem_offset))
            }
            if let tab = tab(inLine: Int(parser.pointee.problem_mark.line)) { throw tab }
            let (begin, end) = (parser.pointee.context_mark, parser.pointee.problem_mark)
            // libyaml sees in the next line, or at the end, that something is missing.
            let mark = Self.problemsOfBegin.contains(problem) ? begin : end
            let open =
                begin.line < mark.line && problem.contains(",") ? " for the bracket of line \(begin.line + 1)" : ""
            throw YAMLMistake("not YAML: \(problem)\(open)\(Self.remedy(problem))", mark)
        }
        defer { yaml_event_delete(&event) }
        return YAMLEvent(event)
    }

    /// Of those libyaml knows where that begins which has no end.
    private static let problemsOfBegin: Set = [
        "could not find expected ':'", "found unexpected end of stream", "found unexpected document indicator",
    ]

    /// What is nearly always the cause, for somebody who does not know libyaml's words; empty if they say enough.
    private static func remedy(_ problem: String) -> String {
        switch problem {
        case "mapping values are not allowed in this context":
            #"; a text with a colon in it needs quotes, such as "A fan: fast", and a key the indentation of those beside it"#
        case "did not find expected ',' or '}'", "did not find expected ',' or ']'":
            #"; a text with a colon, a comma or a bracket in it needs quotes, such as "A fan: fast""#
        case "did not find expected key", "did not find expected '-' indicator":
            "; this line is indented unlike those beside it, or a text before it lacks a quote"
        case "found invalid Unicode character escape code":
            #"; write the character itself, or one escape for it, such as "\U0001F600""#
        case "found character that cannot start any token": "; a text that begins with this character needs quotes"
        case "found unexpected end of stream", "found unexpected document indicator":
            "; a quote or a bracket is not closed"
        case "did not find expected node content": "; a bracket is not closed, or a value is missing"
        case "could not find expected ':'": "; a key ends with a colon and a space"
        case "did not find expected <document start>":
            "; this line is indented less than the first one, or what is before it is no mapping"
        default: ""
        }
    }

    /// libyaml compares each directive of this name with all those before it, in a time that grows with their square.
    private static let tagDirective = Array("%TAG".utf8)
    private static let maximumTagDirectives = 64

    /// The mistake of more directives than any file needs.
    var mistakeOfDirectives: YAMLMistake? {
        var count = 0
        for index in text.indices where text[index] == Self.tagDirective[0] {
            guard text[index...].starts(with: Self.tagDirective) else { continue }
            count += 1
            guard count > Self.maximumTagDirectives else { continue }
            let limit = "more than \(Self.maximumTagDirectives) times %TAG, which no file of ours needs: remove it"
            return mistake(limit, at: index)
        }
        return nil
    }

    private func mistake(_ message: String, at index: Int) -> YAMLMistake {
        let before = text.prefix(index)
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let column = before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count + 1
        return YAMLMistake(message: message, line: line, column: column)
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

/// One step through a text: a value without members, or the beginning or the end of one with members.
struct YAMLEvent {
    enum Content {
        /// Text; plain if it is not quoted.
        case scalar(String, isPlain: Bool)
        case sequence
        case mapping
        /// Of a sequence or a mapping.
        case end
        /// The value of an anchor, once more.
        case alias(String)
        /// The beginning or the end of a document, or the beginning of the text.
        case boundary
        case endOfText
    }

    var content: Content
    /// The name under which aliases mean this value.
    var anchor: String?
    /// The kind of value that the text says it is.
    private var tag: String?
    /// Counted from 1.
    var line: Int
    var column: Int

    /// `!` and `!!str`: a text, whatever it looks like.
    private static let tagsOfText: Set = ["!", "\(standard)str"]
    private static let standard = "tag:yaml.org,2002:"

    /// A tag such as `!secret`, as it is written: what it asks for is not done, and its text is not what is meant.
    /// - Parameter node: the value that it is the tag of. What that is anyway may be said.
    func unknownTag(of node: YAMLNode) -> String? {
        guard let tag, !Self.tagsOfText.contains(tag) else { return nil }
        guard tag.hasPrefix(Self.standard) else { return tag }
        let name = String(tag.dropFirst(Self.standard.count))
        let isOne =
            switch name {
            case "seq": node.sequence != nil
            case "map": node.mapping != nil
            case "null": node.isNull
            case "bool": node.json?.boolValue != nil
            case "int": node.json?.integerValue != nil
            case "float": node.json?.numberValue != nil
            default: false
            }
        return isOne ? nil : "!!\(name)"
    }

    fileprivate init(_ event: yaml_event_t) {
        line = Int(event.start_mark.line) + 1
        column = Int(event.start_mark.column) + 1
        func text(_ bytes: UnsafeMutablePointer<yaml_char_t>?) -> String? { bytes.map { String(cString: $0) } }
        switch event.type {
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            content = .scalar(
                String(decoding: bytes, as: UTF8.self),
                isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE && !Self.tagsOfText.contains(text(scalar.tag) ?? "")
            )
            anchor = text(scalar.anchor)
            tag = text(scalar.tag)
        case YAML_SEQUENCE_START_EVENT:
            content = .sequence
            anchor = text(event.data.sequence_start.anchor)
            tag = text(event.data.sequence_start.tag)
        case YAML_MAPPING_START_EVENT:
            content = .mapping
            anchor = text(event.data.mapping_start.anchor)
            tag = text(event.data.mapping_start.tag)
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: content = .end
        case YAML_ALIAS_EVENT: content = .alias(text(event.data.alias.anchor) ?? "")
        case YAML_STREAM_START_EVENT, YAML_DOCUMENT_START_EVENT, YAML_DOCUMENT_END_EVENT: content = .boundary
        default: content = .endOfText
        }
    }
}
