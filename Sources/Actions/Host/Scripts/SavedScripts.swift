package import JSON

/// Scripts that people have typed into the editors of actions, by action, site and name. The one without a name was
/// typed last there.
package struct SavedScripts: Sendable, Equatable {
    package struct Script: Sendable, Equatable {
        package let action: String
        /// An origin.
        package let site: String
        /// Empty: what was typed last.
        package let name: String
        package var text: String
    }

    private var scripts: [Script] = []

    package static let maximumCount = 500
    /// The most bytes of a script.
    package static let maximumBytes = 256 << 10
    static let maximumNameBytes = 100

    package init() {}

    /// Parses such a file; entries that are not scripts are left out. Nil if it is not JSON of that shape.
    package init?(_ text: String) {
        guard let items = (try? JSONParser.parse(text, maximumDepth: 8))?.objectValue?["scripts"]?.arrayValue else {
            return nil
        }
        for members in items.compactMap(\.objectValue) {
            guard let action = members["action"]?.stringValue, let site = members["site"]?.stringValue,
                let name = members["name"]?.stringValue, let text = members["text"]?.stringValue
            else { continue }
            scripts.append(Script(action: action, site: site, name: name, text: text))
        }
    }

    /// The scripts of an action on a site, the one typed last first, then by name.
    package func scripts(of action: String, on site: WebOrigin) -> [Script] {
        scripts.filter { $0.action == action && $0.site == site.description }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// The same for an editor: `{"last": text, "saved": [{"name", "text"}]}`.
    package func json(of action: String, on site: WebOrigin) -> JSONValue {
        let scripts = scripts(of: action, on: site)
        let saved = scripts.filter { !$0.name.isEmpty }.map { script in
            JSONValue.object(["name": .string(script.name), "text": .string(script.text)])
        }
        return ["last": .string(scripts.first { $0.name.isEmpty }?.text ?? ""), "saved": .array(saved)]
    }

    /// Why a script cannot be saved, as a sentence.
    static func problem(name: String, text: String) -> String? {
        if text.utf8.count > maximumBytes { return "a script has at most \(maximumBytes >> 10) KiB" }
        if name.utf8.count > maximumNameBytes { return "the name of a script has at most \(maximumNameBytes) bytes" }
        if name.unicodeScalars.contains(where: { $0.value < 0x20 }) { return "the name of a script is one line" }
        return nil
    }

    /// Saves a script, replacing one with the same name. An empty one is removed.
    /// - Returns: why it cannot be saved, as a sentence; nil if it was.
    mutating func save(_ text: String, as name: String, of action: String, on site: WebOrigin) -> String? {
        if let problem = Self.problem(name: name, text: text) { return problem }
        let old = scripts.firstIndex { $0.action == action && $0.site == site.description && $0.name == name }
        if let old { scripts.remove(at: old) }
        guard !text.isEmpty else { return nil }
        while scripts.count >= Self.maximumCount {
            // Unnamed scripts are removed first; those with a name were meant to stay.
            guard let oldest = scripts.firstIndex(where: \.name.isEmpty) else {
                return "there are \(Self.maximumCount) scripts already; remove one"
            }
            scripts.remove(at: oldest)
        }
        scripts.append(Script(action: action, site: site.description, name: name, text: text))
        return nil
    }

    /// The text of the file.
    var text: String {
        let items = scripts.map { script in
            JSONValue.object([
                "action": .string(script.action), "site": .string(script.site), "name": .string(script.name),
                "text": .string(script.text),
            ])
        }
        return "\(JSONValue.object(["scripts": .array(items)]).text)\n"
    }
}
