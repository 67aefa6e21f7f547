internal import Configuration
internal import Digests
internal import JSON

/// A server's list of its files: `{"version": 7, "files": {"report.js": "SHA-256 in hexadecimal digits"}}`.
package struct Manifest: Sendable {
    package var version: Int64
    /// The hash of each file, by its name.
    package var files: [String: String] = [:]

    /// - Parameter text: the text; refused if it is something else, such as an HTML page.
    package init(_ text: String) throws(SetRefusal) {
        guard let object = (try? JSONParser.parse(text, maximumDepth: 8))?.objectValue,
            let version = object["version"]?.integerValue, version >= 0,
            let files = object["files"]?.objectValue
        else { throw SetRefusal("the manifest is not {version, files: {NAME: sha256}}") }
        guard files.count <= ProcedureSettings.fileCount else {
            throw SetRefusal("the manifest has \(files.count) files; at most \(ProcedureSettings.fileCount) are taken")
        }
        self.version = version
        for (name, hash) in files {
            guard ProcedureName.isFile(name) else {
                throw SetRefusal("'\(name.prefix(100))' is not the name of a procedure's file")
            }
            guard let hash = hash.stringValue?.lowercased(), Self.isHash(hash) else {
                throw SetRefusal("the manifest has no SHA-256 of \(name)")
            }
            self.files[name] = hash
        }
    }

    /// Whether the text is the hash of something.
    static func isHash(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { hexadecimalDigit($0) != nil }
    }

    /// Refuses a manifest that the holder of a key has not signed.
    /// - Parameter key: in Base64, as the settings have it.
    package static func verify(_ text: String, signature: String?, key: String) throws(SetRefusal) {
        guard let signature else {
            throw SetRefusal("the manifest is not signed, or has changed since: there is no manifest.json.sig")
        }
        guard Ed25519Key(key)?.accepts(Base64.decode(signature) ?? [], of: Array(text.utf8)) == true else {
            throw SetRefusal("the manifest's signature is not one of the key in the settings")
        }
    }
}
