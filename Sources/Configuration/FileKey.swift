/// A key of a mapping in a file: its name, and what its value sets in a section of the settings or of an entry.
struct FileKey<Section>: Sendable {
    let name: String
    /// Reads a value into a section; a wrong one is a mistake of the file.
    let read: @Sendable (_ file: inout YAMLFile, _ node: YAMLNode, _ section: inout Section) -> Void

    init(_ name: String, read: @escaping @Sendable (inout YAMLFile, YAMLNode, inout Section) -> Void) {
        self.name = name
        self.read = read
    }

    /// - Parameter value: reads the value, which its mistakes call `what`; if it gives nil, the section keeps its own.
    init<Value>(
        _ name: String,
        _ path: any WritableKeyPath<Section, Value> & Sendable,
        _ value: @escaping @Sendable (_ file: inout YAMLFile, _ node: YAMLNode, _ what: String) -> Value?
    ) {
        self.init(name) { file, node, section in
            if let new = value(&file, node, "'\(name)'") { section[keyPath: path] = new }
        }
    }

    /// A section within the section, with keys of its own.
    init<Part>(_ name: String, _ path: any WritableKeyPath<Section, Part> & Sendable, keys: [FileKey<Part>]) {
        self.init(name) { file, node, section in
            _ = file.read(node, of: "'\(name)'", keys, into: &section[keyPath: path], skippingNull: true)
        }
    }

    /// The same key of a section that has this one as a part.
    func within<Whole>(_ path: any WritableKeyPath<Whole, Section> & Sendable) -> FileKey<Whole> {
        FileKey<Whole>(name) { file, node, whole in read(&file, node, &whole[keyPath: path]) }
    }
}

extension YAMLFile {
    /// Reads the values of a mapping.
    /// - Parameters:
    ///   - section: of an entry of the mappings: which one it is.
    ///   - skippingNull: whether a key without a value is as if it were not there.
    /// - Returns: the names of the keys that are there.
    mutating func read<Section>(
        _ node: YAMLNode,
        of what: String,
        _ keys: [FileKey<Section>],
        into values: inout Section,
        section: String? = nil,
        skippingNull: Bool = false
    ) -> Set<String> {
        let members = members(node, of: what, known: keys.map(\.name), section: section)
        for (_, name, value) in members where !skippingNull || !value.isNull {
            keys.first { $0.name == name }?.read(&self, value, &values)
        }
        return Set(members.map(\.name))
    }
}
