internal import CYAML

/// A value of a YAML file, with its position.
struct YAMLNode {
    enum Content {
        /// Text; plain if it is not quoted.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        case mapping([(key: YAMLNode, value: YAMLNode)])
    }

    var content: Content
    /// Counted from 1.
    var line: Int
    var column: Int

    /// The text of a scalar.
    var text: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }

    var isPlain: Bool {
        if case .scalar(_, let isPlain) = content { isPlain } else { false }
    }

    var sequence: [YAMLNode]? {
        if case .sequence(let items) = content { items } else { nil }
    }

    var mapping: [(key: YAMLNode, value: YAMLNode)]? {
        if case .mapping(let members) = content { members } else { nil }
    }
}

/// Why a text is not valid YAML, and where.
struct YAMLMistake: Error {
    var message: String
    var line: Int
    var column: Int
}

/// Reads a text of one YAML document with libyaml.
struct YAMLParser {
    /// Limits the nodes: aliases of aliases could make any number.
    private static let maximumNodes = 2_000_000
    /// libyaml allows an alias inside its own anchor.
    private static let maximumDepth = 64

    private var nodeCount = 0

    /// - Returns: nil for a text without a value.
    static func parse(_ text: String) throws(YAMLMistake) -> YAMLNode? {
        let parser = try LibYAMLParser(text)
        var document = try parser.load()
        defer { yaml_document_delete(&document) }
        guard let root = yaml_document_get_root_node(&document) else { return nil }
        var reader = YAMLParser()
        let node = try reader.node(root, &document, depth: 0)
        var second = try parser.load()
        defer { yaml_document_delete(&second) }
        guard let other = yaml_document_get_root_node(&second) else { return node }
        throw YAMLMistake("a second document begins here; a file holds one", other.pointee.start_mark)
    }

    private mutating func node(
        _ node: UnsafeMutablePointer<yaml_node_t>,
        _ document: inout yaml_document_t,
        depth: Int
    ) throws(YAMLMistake) -> YAMLNode {
        let mark = node.pointee.start_mark
        nodeCount += 1
        guard nodeCount <= Self.maximumNodes, depth <= Self.maximumDepth else {
            throw YAMLMistake("more values, or deeper ones, than a file may have", mark)
        }
        let content: YAMLNode.Content
        switch node.pointee.type {
        case YAML_SEQUENCE_NODE:
            var items: [YAMLNode] = []
            let list = node.pointee.data.sequence.items
            for item in Self.members(list.start, list.top) {
                items.append(try child(item, &document, depth))
            }
            content = .sequence(items)
        case YAML_MAPPING_NODE:
            content = .mapping(try pairs(node, &document, depth))
        default:
            let scalar = node.pointee.data.scalar
            let text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            content = .scalar(text, isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE)
        }
        return YAMLNode(content: content, line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }

    private mutating func pairs(
        _ node: UnsafeMutablePointer<yaml_node_t>,
        _ document: inout yaml_document_t,
        _ depth: Int
    ) throws(YAMLMistake) -> [(key: YAMLNode, value: YAMLNode)] {
        var pairs: [(key: YAMLNode, value: YAMLNode)] = []
        // Compared by their bytes, as everywhere: keys that only look alike are different.
        var names: Set<[UInt8]> = []
        let list = node.pointee.data.mapping.pairs
        for pair in Self.members(list.start, list.top) {
            let key = try child(pair.key, &document, depth)
            if let name = key.text, !names.insert(Array(name.utf8)).inserted {
                throw YAMLMistake(message: "the key '\(name)' is given twice", line: key.line, column: key.column)
            }
            pairs.append((key, try child(pair.value, &document, depth)))
        }
        return pairs
    }

    private mutating func child(
        _ index: Int32,
        _ document: inout yaml_document_t,
        _ depth: Int
    ) throws(YAMLMistake) -> YAMLNode {
        guard let child = yaml_document_get_node(&document, index) else {
            throw YAMLMistake(message: "not YAML: a value is missing", line: 1, column: 1)
        }
        return try node(child, &document, depth: depth + 1)
    }

    /// libyaml's stacks are delimited by two pointers.
    private static func members<Member>(
        _ start: UnsafeMutablePointer<Member>?,
        _ top: UnsafeMutablePointer<Member>?
    ) -> UnsafeBufferPointer<Member> {
        guard let start, let top else { return UnsafeBufferPointer(start: nil, count: 0) }
        return UnsafeBufferPointer(start: start, count: top - start)
    }
}
