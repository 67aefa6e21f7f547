internal import JSON

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

extension YAMLNode {
    /// The first plain scalar in it that stands for no JSON value.
    var scalarWithoutValue: (node: YAMLNode, text: String)? {
        switch content {
        case .scalar(let text, let isPlain):
            return isPlain && !isNull && YAMLScalar.value(text) == nil ? (self, text) : nil
        case .sequence(let items):
            for item in items { if let found = item.scalarWithoutValue { return found } }
        case .mapping(let members):
            for (_, value) in members { if let found = value.scalarWithoutValue { return found } }
        }
        return nil
    }
}

/// What scalars without quotes mean: YAML's core schema (YAML 1.2.2, 10.3.2), but for null.
enum YAMLScalar {
    /// Nil for what is a number but none of JSON's, and for a number with leading zeros, which YAML 1.1 counts by eights.
    static func value(_ text: String) -> JSONValue? {
        switch text {
        case "true", "True", "TRUE": return true
        case "false", "False", "FALSE": return false
        default: break
        }
        if let number = prefixed(text, "0x", 16) ?? prefixed(text, "0o", 8) { return number }
        let unsigned =
            text.utf8.first.map { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") } == true
            ? text.utf8.dropFirst() : text.utf8[...]
        if unsigned.elementsEqual(".inf".utf8)
            || [".Inf", ".INF", ".nan", ".NaN", ".NAN"].contains(Substring(unsigned))
        {
            return nil
        }
        guard text.utf8.allSatisfy({ isDigit($0) || ".eE+-".utf8.contains($0) }) else { return .string(text) }
        if let value = Int64(text) { return hasLeadingZero(text) ? nil : .integer(value) }
        guard let value = Double(text) else { return .string(text) }
        return value.isFinite && !hasLeadingZero(text) ? .number(value) : nil
    }

    private static func prefixed(_ text: String, _ prefix: String, _ radix: Int) -> JSONValue? {
        let digits = text.dropFirst(2)
        guard text.hasPrefix(prefix), !digits.isEmpty, digits.utf8.allSatisfy({ hexadecimalDigit($0) != nil }) else {
            return nil
        }
        return Int64(digits, radix: radix).map { .integer($0) }
    }

    /// What to say of a text that YAML 1.1 reads as true or false; else an empty text.
    static func note(ofNoBoolean value: JSONValue?) -> String {
        let isOld = ["yes", "no", "on", "off", "y", "n"].contains(value?.stringValue?.lowercased())
        return isOld ? ": YAML 1.2 has only true and false" : ""
    }

    /// Such as `007` and `-01.5`.
    static func hasLeadingZero(_ text: String) -> Bool {
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
        return digits.count > 1 && digits.first == UInt8(ascii: "0") && isDigit(digits.dropFirst().first ?? 0)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

/// Why a text is not valid YAML, and where.
struct YAMLMistake: Error {
    var message: String
    var line: Int
    var column: Int
}

extension YAMLMistake {
    init(_ message: String, at event: YAMLEvent) {
        self.init(message: message, line: event.line, column: event.column)
    }
}

/// Reads a text of one YAML document with libyaml.
///
/// It takes libyaml's events and not its documents, which libyaml makes in a time that grows with the square of their depth
/// and of their anchors: 200,000 open brackets would take a minute.
struct YAMLParser: ~Copyable {
    /// Limits the nodes: aliases of aliases could make any number.
    private static let maximumNodes = 2_000_000
    private static let maximumDepth = 64

    /// The value of an anchor.
    private struct Anchored {
        var node: YAMLNode
        /// How many nodes it has with all below it, and how many levels are below it.
        var count: Int
        var height: Int
    }

    private let parser: LibYAMLParser
    private var nodeCount = 0
    /// The deepest level so far.
    private var deepest = 0
    /// nil while the value of the anchor is being read.
    private var anchors: [String: Anchored?] = [:]

    private init(_ parser: consuming LibYAMLParser) { self.parser = parser }

    /// - Returns: nil for a text without a value.
    static func parse(_ text: String) throws(YAMLMistake) -> YAMLNode? {
        var reader = YAMLParser(try LibYAMLParser(text))
        if let mistake = reader.parser.mistakeOfDirectives { throw mistake }
        guard let first = try reader.beginDocument() else { return nil }
        let node = try reader.node(first, depth: 0)
        guard let second = try reader.beginDocument() else { return node }
        throw YAMLMistake("a second document begins here; a file holds one", at: second)
    }

    /// The first event of the next document's value; nil at the end of the text.
    private func beginDocument() throws(YAMLMistake) -> YAMLEvent? {
        while true {
            let event = try parser.next()
            switch event.content {
            case .boundary: continue
            case .endOfText: return nil
            default: return event
            }
        }
    }

    /// The value that begins with an event.
    private mutating func node(_ event: YAMLEvent, depth: Int) throws(YAMLMistake) -> YAMLNode {
        if case .alias(let name) = event.content { return try value(ofAnchor: name, event, depth) }
        guard let anchor = event.anchor else { return try unnamedNode(event, depth) }
        // One that is set again means its new value from here on.
        anchors[anchor] = .some(nil)
        let (before, deepestBefore) = (nodeCount, deepest)
        deepest = depth
        let node = try unnamedNode(event, depth)
        anchors[anchor] = Anchored(node: node, count: nodeCount - before, height: deepest - depth)
        deepest = max(deepest, deepestBefore)
        return node
    }

    private mutating func unnamedNode(_ event: YAMLEvent, _ depth: Int) throws(YAMLMistake) -> YAMLNode {
        try count(1, downTo: depth, event)
        let content: YAMLNode.Content
        switch event.content {
        case .scalar(let text, let isPlain): content = .scalar(text, isPlain: isPlain)
        case .sequence: content = .sequence(try items(depth + 1))
        case .mapping: content = .mapping(try pairs(depth + 1))
        case .end, .alias, .boundary, .endOfText: throw YAMLMistake("not YAML: a value is missing", at: event)
        }
        let node = YAMLNode(content: content, line: event.line, column: event.column)
        if let tag = event.unknownTag(of: node) {
            throw YAMLMistake("the tag '\(tag)' means nothing here; write the value itself", at: event)
        }
        return node
    }

    private mutating func value(
        ofAnchor name: String,
        _ event: YAMLEvent,
        _ depth: Int
    ) throws(YAMLMistake) -> YAMLNode {
        guard let known = anchors[name] else { throw YAMLMistake("not YAML: found undefined alias", at: event) }
        // Within its own value it would never end.
        guard let known else { throw Self.mistakeOfSize(event) }
        try count(known.count, downTo: depth + known.height, event)
        return known.node
    }

    private mutating func count(_ nodes: Int, downTo depth: Int, _ event: YAMLEvent) throws(YAMLMistake) {
        nodeCount += nodes
        deepest = max(deepest, depth)
        if nodeCount > Self.maximumNodes || depth > Self.maximumDepth { throw Self.mistakeOfSize(event) }
    }

    private static func mistakeOfSize(_ event: YAMLEvent) -> YAMLMistake {
        YAMLMistake(
            "more values, or deeper ones, than a file may have: at most \(maximumNodes) values and \(maximumDepth) levels",
            at: event
        )
    }

    private mutating func items(_ depth: Int) throws(YAMLMistake) -> [YAMLNode] {
        var items: [YAMLNode] = []
        while let event = try nextMember() { items.append(try node(event, depth: depth)) }
        return items
    }

    private mutating func pairs(_ depth: Int) throws(YAMLMistake) -> [(key: YAMLNode, value: YAMLNode)] {
        var pairs: [(key: YAMLNode, value: YAMLNode)] = []
        // Compared by their bytes, as everywhere: keys that only look alike are different.
        var lines: [[UInt8]: Int] = [:]
        while let event = try nextMember() {
            let key = try node(event, depth: depth)
            if let name = key.text, let first = lines.updateValue(key.line, forKey: Array(name.utf8)) {
                let message = "the key '\(name)' is given twice, first in line \(first); remove one of the two"
                throw YAMLMistake(message: message, line: key.line, column: key.column)
            }
            pairs.append((key, try node(try parser.next(), depth: depth)))
        }
        return pairs
    }

    /// The first event of the next member; nil at the end of the sequence or mapping.
    private func nextMember() throws(YAMLMistake) -> YAMLEvent? {
        let event = try parser.next()
        if case .end = event.content { return nil }
        return event
    }
}
