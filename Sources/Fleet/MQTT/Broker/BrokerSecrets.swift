internal import Glibc
package import Linux

/// The user and the password, which are not in the settings file.
package enum BrokerSecrets {
    private static let maxBytes = 8192

    /// A credential of systemd (systemd.exec(5)); nil if there is none, or it is empty.
    package static func credential(_ name: String, _ environment: [String: String]) -> String? {
        guard let folder = environment["CREDENTIALS_DIRECTORY"],
            case .success(let text) = FileText.read("\(folder)/\(name)", maximumBytes: maxBytes)
        else { return nil }
        return line(text)
    }

    /// The first line of a file; nil if it is empty.
    package static func file(_ path: String) -> Result<String?, FileText.Problem> {
        FileText.read(path, maximumBytes: maxBytes).map(line)
    }

    private static func line(_ text: String) -> String? {
        let line = text.split(separator: "\n", omittingEmptySubsequences: false).first.map(String.init) ?? ""
        return line.isEmpty ? nil : line
    }
}
