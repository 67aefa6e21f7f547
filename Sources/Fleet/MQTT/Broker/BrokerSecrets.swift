internal import Glibc
package import Linux

/// The user and the password, which are not in the settings file: each is the first line of a file of its own.
package enum BrokerSecrets {
    private static let maxBytes = 8192

    /// A credential of systemd (systemd.exec(5)); nil if there is none, or it is empty.
    package static func credential(
        _ name: String,
        _ environment: [String: String]
    ) -> Result<String?, FileText.Problem> {
        guard let folder = environment["CREDENTIALS_DIRECTORY"] else { return .success(nil) }
        let path = "\(folder)/\(name)"
        return FileText.exists(path) ? file(path, mayBeEmpty: true) : .success(nil)
    }

    /// The first line of a file.
    /// - Parameter mayBeEmpty: whether a file without text is none; otherwise it is a mistake, as an empty first line always is.
    package static func file(_ path: String, mayBeEmpty: Bool = false) -> Result<String?, FileText.Problem> {
        FileText.read(path, maximumBytes: maxBytes).flatMap { text in
            let line = text.prefix { $0 != "\n" }
            if line.isEmpty {
                return mayBeEmpty && text.allSatisfy(\.isNewline)
                    ? .success(nil)
                    : .failure(FileText.Problem(message: "has nothing in its first line, which is the one that counts"))
            }
            if let control = line.unicodeScalars.first(where: { $0.properties.generalCategory == .control }) {
                let code = String(0x10000 + control.value, radix: 16, uppercase: true).dropFirst()
                return .failure(FileText.Problem(message: "has the control character U+\(code) in its first line"))
            }
            return .success(String(line))
        }
    }
}
