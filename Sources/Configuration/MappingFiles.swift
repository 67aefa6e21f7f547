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
    package static func load(_ folders: [Folder]) -> MappingTableBuilder {
        var mistakes: [ConfigurationMistake] = []
        var builder = MappingTableBuilder()
        for path in files(in: folders, &mistakes, &builder) {
            var reader = MappingReader(path: path)
            for declaration in reader.read() { builder.add(declaration) }
            mistakes += reader.mistakes
            if reader.isUnreadable { builder.isIncomplete = true }
        }
        for mistake in mistakes { builder.note(mistake) }
        return builder
    }

    /// The files that ``load(_:)`` reads now.
    package static func paths(in folders: [Folder]) -> [String] {
        var (mistakes, builder) = ([ConfigurationMistake](), MappingTableBuilder())
        return files(in: folders, &mistakes, &builder)
    }

    /// - Parameter builder: gets warnings about files that look like mappings but are not.
    private static func files(
        in folders: [Folder],
        _ mistakes: inout [ConfigurationMistake],
        _ builder: inout MappingTableBuilder
    ) -> [String] {
        // Compared by the bytes of the name, as on the disk.
        var paths: [[UInt8]: (folder: Int, path: String)] = [:]
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
                    paths[Array(name.utf8)] = (number, path)
                } else if let right = SettingsFiles.rightName(for: name) {
                    builder.warn(
                        ConfigurationMistake(
                            "this file is not read: mappings end in .yaml, so rename it to \(right)",
                            at: SourceLocation(file: path, line: 1, column: 1)
                        )
                    )
                }
            }
        }
        return paths.sorted { one, other in
            guard one.value.folder == other.value.folder else { return one.value.folder < other.value.folder }
            return one.key.lexicographicallyPrecedes(other.key)
        }.map(\.value.path)
    }
}
