import Glibc
import Linux
public import QuickConnect

/// Reads the folders of mappings.
public enum MappingFiles {
    /// A folder of `*.yaml` files.
    public struct Folder: Sendable, Hashable {
        public var path: String
        /// Whether the owner named it: then it must be there.
        public var isRequired: Bool

        public init(_ path: String, isRequired: Bool) {
            self.path = path
            self.isRequired = isRequired
        }
    }

    /// What the files say, merged in the byte order of their names. A file of a later folder replaces one of the
    /// same name of an earlier folder.
    public static func load(_ folders: [Folder]) throws(ConfigurationMistakes) -> MappingTableBuilder {
        var mistakes: [ConfigurationMistake] = []
        var builder = MappingTableBuilder()
        for path in files(in: folders, &mistakes) {
            var reader = MappingReader(path: path)
            for declaration in reader.read() { builder.add(declaration) }
            mistakes += reader.mistakes
        }
        guard mistakes.isEmpty else { throw ConfigurationMistakes(mistakes) }
        return builder
    }

    private static func files(in folders: [Folder], _ mistakes: inout [ConfigurationMistake]) -> [String] {
        // By the bytes of the name, which are what the disk knows a file by.
        var paths: [[UInt8]: String] = [:]
        for folder in folders {
            guard let names = FileText.names(in: folder.path) else {
                if folder.isRequired || errno != ENOENT {
                    let problem = FileText.problem("the folder of mappings cannot be read")
                    mistakes.append(
                        ConfigurationMistake(problem.message, at: SourceLocation(file: folder.path, line: 1, column: 1))
                    )
                }
                continue
            }
            for name in names where name.hasSuffix(".yaml") && !name.hasPrefix(".") {
                paths[Array(name.utf8)] = "\(folder.path)/\(name)"
            }
        }
        return paths.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
    }
}
