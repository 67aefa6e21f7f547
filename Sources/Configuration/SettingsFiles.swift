import Glibc
import Linux
import QuickConnect

/// The files of the settings: the main one, and those of the folder `settings.d` beside it, in the byte order of their
/// names. No file overrides another: what is set twice is a mistake.
struct SettingsFiles {
    let main: String
    /// Whether the owner named the main file; then it must exist.
    let isNamed: Bool
    private(set) var mistakes: [ConfigurationMistake] = []

    /// Whether there is any of them.
    static func exist(at main: String) -> Bool {
        FileText.exists(main) || !(FileText.names(in: folder(of: main)) ?? []).filter(isOne).isEmpty
    }

    private static func isOne(_ name: String) -> Bool { name.hasSuffix(".yaml") && !name.hasPrefix(".") }

    mutating func read(into settings: inout Settings) {
        var keys = SettingKeys()
        settings.files = paths()
        for path in settings.files {
            var reader = SettingsReader(path: path)
            reader.read(into: &settings, &keys)
            mistakes += reader.mistakes
        }
        settings.given = keys.given
    }

    private mutating func paths() -> [String] {
        let folder = Self.folder(of: main)
        // A link that leads nowhere is no absent file: what the owner has set would be ignored.
        let first = isNamed || FileText.exists(main) || FileText.isLink(main) ? [main] : []
        guard let names = FileText.names(in: folder) else {
            if errno != ENOENT || FileText.isLink(folder) {
                mistake(FileText.problem("the folder of settings cannot be read").message, at: folder)
            }
            return first
        }
        for name in names where !name.hasPrefix(".") {
            guard let right = Self.rightName(for: name) else { continue }
            mistake("settings end in .yaml, so rename this file to \(right)", at: "\(folder)/\(name)")
        }
        return first + names.filter(Self.isOne).map { "\(folder)/\($0)" }
    }

    /// The name that a file of YAML needs, so that it is read; nil if it has that name, or is none.
    static func rightName(for name: String) -> String? {
        guard let dot = name.lastIndex(of: "."), [".yaml", ".yml"].contains(name[dot...].lowercased()) else {
            return nil
        }
        return name.hasSuffix(".yaml") ? nil : "\(name[..<dot]).yaml"
    }

    private mutating func mistake(_ text: String, at file: String) {
        mistakes.append(ConfigurationMistake(text, at: SourceLocation(file: file, line: 1, column: 1)))
    }

    private static func folder(of main: String) -> String {
        let parent = main.lastIndex(of: "/").map { String(main[..<$0]) } ?? "."
        return "\(parent)/settings.d"
    }
}

/// Where each key of the settings is set.
struct SettingKeys {
    private var places: [String: SourceLocation] = [:]
    /// What each is set to.
    private(set) var given: [String: String] = [:]

    /// The sections whose members may be in several files; any other key is in one, with all that belongs to it.
    private static let sections: Set<String> = [
        "actions", "data", "kiosk", "limits", "motion", "recording", "scripts", "vibration", "web",
    ]

    /// A list to which several files may add.
    private static let list = "sockets"

    /// Notes what a file sets.
    /// - Returns: what another file has set before, as `web.listen`, with both places.
    mutating func add(
        _ name: String,
        _ key: YAMLNode,
        _ value: YAMLNode,
        in file: YAMLFile
    ) -> [(name: String, node: YAMLNode, first: SourceLocation)] {
        if name == Self.list { return [] }
        var set = [(name: name, node: key, value: value)]
        if Self.sections.contains(name), let members = value.mapping {
            set = members.compactMap { key, value in
                value.isNull ? nil : key.text.map { ("\(name).\($0)", key, value) }
            }
        }
        return set.compactMap { name, node, value in
            guard let first = places[name] else {
                places[name] = file.location(node)
                given[name] = value.comparable
                return nil
            }
            return (name, node, first)
        }
    }
}

extension YAMLNode {
    /// A text that is the same for the same content, however it is laid out: where quotes make another value, a setting
    /// takes one of both only.
    fileprivate var comparable: String {
        switch content {
        case .scalar(let text, _): isNull ? "null" : text.debugDescription
        case .sequence(let items): "[\(items.map(\.comparable).joined(separator: ","))]"
        case .mapping(let members):
            "{\(members.map { "\($0.key.comparable):\($0.value.comparable)" }.sorted().joined(separator: ","))}"
        }
    }
}

extension ConfigurationMistakes {
    /// One line for each, whatever names the files and their entries have.
    package var lines: String { mistakes.map(\.description.escapingControls).joined(separator: "\n") }
}
