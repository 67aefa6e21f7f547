import Glibc
import Linux
package import QuickConnect

/// Reads the folders of mappings.
package enum MappingFiles {
    /// A folder of `*.yaml` files.
    package struct Folder: Sendable, Hashable {
        package var path: String
        /// Whether the owner named it; then it must exist.
        package var isRequired: Bool

        package init(_ path: String, isRequired: Bool) {
            self.path = path
            self.isRequired = isRequired
        }
    }

    /// The files' contents, merged folder by folder, so that the owner's win over the shipped, and in a folder in the byte
    /// order of their names; and their mistakes, which the builder reports with its own. A file of a later folder replaces
    /// one of the same name of an earlier folder.
    package static func load(_ folders: [Folder]) -> MappingTableBuilder { load(folders, tries: 4) }

    private static func load(_ folders: [Folder], tries: Int) -> MappingTableBuilder {
        var mistakes: [ConfigurationMistake] = []
        var builder = MappingTableBuilder()
        builder.shipped = folders.count > 1 ? folders[0].path : nil
        let (paths, replaced) = files(in: folders, &mistakes, &builder)
        var names: [String: Set<String>] = [:]
        for path in paths {
            var reader = MappingReader(path: path)
            for declaration in reader.read() {
                builder.add(declaration)
                names[path, default: []].insert(declaration.command.value)
            }
            // It has gone since the folder was looked at, as an editor's files do: what it took the place of may be there.
            if reader.isGone {
                if tries > 1 { return load(folders, tries: tries - 1) }
                continue
            }
            mistakes += reader.mistakes
            for warning in reader.warnings { builder.warn(warning) }
            if reader.isUnreadable { builder.isIncomplete = true }
        }
        for (old, new) in replaced where names[new] != nil {
            if let warning = warning(of: old, replacedBy: new, names) { builder.warn(warning) }
        }
        for mistake in mistakes { builder.note(mistake) }
        return builder
    }

    /// The names that a file of mappings with this text declares; none if it is not YAML.
    package static func names(in text: String) -> Set<String> {
        Set((try? YAMLParser.parse(text))?.mapping?.compactMap(\.key.text) ?? [])
    }

    /// The files that ``load(_:)`` reads now.
    package static func paths(in folders: [Folder]) -> [String] {
        var (mistakes, builder) = ([ConfigurationMistake](), MappingTableBuilder())
        return files(in: folders, &mistakes, &builder).paths
    }

    /// What to say of a file that takes the place of another by its name, and has not all its commands. An empty one is
    /// meant to take them away.
    private static func warning(
        of old: String,
        replacedBy new: String,
        _ names: [String: Set<String>]
    ) -> ConfigurationMistake? {
        var reader = MappingReader(path: old)
        let all = names.values.reduce(into: Set([MappingDeclaration.defaultName])) { $0.formUnion($1) }
        let gone = reader.read().map(\.command.value).filter { !all.contains($0) }
        guard !gone.isEmpty else { return nil }
        let says = "this file takes the place of \(old), so that there is no \(gone.joined(separator: ", ")): rename it"
        return ConfigurationMistake(says, at: SourceLocation(file: new, line: 1, column: 1))
    }

    /// - Returns: the files that are read, and those that another takes the place of.
    /// - Parameter builder: gets warnings about files that look like mappings but are not.
    private static func files(
        in folders: [Folder],
        _ mistakes: inout [ConfigurationMistake],
        _ builder: inout MappingTableBuilder
    ) -> (paths: [String], replaced: [(old: String, new: String)]) {
        // Compared by the bytes of the name, as on the disk.
        var paths: [[UInt8]: (folder: Int, path: String)] = [:]
        var replaced: [(old: String, new: String)] = []
        for (number, folder) in folders.enumerated() {
            guard let names = FileText.names(in: folder.path) else {
                // A link that leads nowhere is no absent folder: rules would be gone.
                if folder.isRequired || errno != ENOENT || FileText.isLink(folder.path) {
                    let problem = FileText.problem("the folder of mappings cannot be read")
                    builder.isIncomplete = true
                    mistakes.append(
                        ConfigurationMistake(problem.message, at: SourceLocation(file: folder.path, line: 1, column: 1))
                    )
                }
                continue
            }
            for name in names where !name.hasPrefix(".") {
                let path = "\(folder.path)/\(name)"
                if name.hasSuffix(".yaml") {
                    if let old = paths.updateValue((number, path), forKey: Array(name.utf8)) {
                        replaced.append((old.path, path))
                    }
                } else if let right = SettingsFiles.rightName(for: name) {
                    let advice =
                        names.contains(right)
                        ? "and \(right) is there, too, so its entries belong there" : "so rename it to \(right)"
                    builder.warn(
                        ConfigurationMistake(
                            "this file is not read: mappings end in .yaml, \(advice)",
                            at: SourceLocation(file: path, line: 1, column: 1)
                        )
                    )
                }
            }
        }
        let sorted = paths.sorted { one, other in
            guard one.value.folder == other.value.folder else { return one.value.folder < other.value.folder }
            return one.key.lexicographicallyPrecedes(other.key)
        }
        return (sorted.map(\.value.path), replaced)
    }
}
