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
        var paths: [String: String] = [:]
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
                paths[name] = "\(folder.path)/\(name)"
            }
        }
        return paths.sorted { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }.map(\.value)
    }
}
