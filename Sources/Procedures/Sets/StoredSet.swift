internal import CLinux
package import Configuration
internal import Digests
internal import Glibc
internal import Linux

/// A set of files in its folder. It stays readable through this object's descriptor, even if it is replaced.
package final class StoredSet {
    private let folder: Int32
    package let record: SetRecord

    /// More is no list of a thousand files.
    static let recordBytes = 2 << 20

    init?(_ path: String) throws(SetRefusal) {
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else {
            guard errno != ENOENT else { return nil }
            throw SetRefusal("\(path): \(SystemCallError.text(errno))")
        }
        do throws(SetRefusal) {
            record = try SetRecord(Self.text("set.json", in: folder, Self.recordBytes))
        } catch {
            close(folder)
            throw error
        }
    }

    deinit { close(folder) }

    /// The text of a file, which must be what the record says it is.
    package func text(of name: String) throws(SetRefusal) -> String {
        let text = try Self.text(name, in: folder, ProcedureSettings.fileBytes)
        guard SHA256.text(of: text) == record.files[name]?.hash else {
            throw SetRefusal("\(name) is not what set.json says")
        }
        return text
    }

    /// The manifest, which must say what the record says; nil if the set has none.
    package func manifest() throws(SetRefusal) -> String? {
        guard let version = record.version else { return nil }
        let text = try Self.text("manifest.json", in: folder, ProcedureSettings.fileBytes)
        let manifest = try Manifest(text)
        guard manifest.version == version, manifest.files == record.files.mapValues(\.hash) else {
            throw SetRefusal("manifest.json is not what set.json says")
        }
        return text
    }

    /// The manifest's signature in Base64; nil if it has none.
    package func signature() -> String? { try? Self.text("manifest.json.sig", in: folder, 1024) }

    /// Refuses what the settings' server and key do not allow, or what is older than another set.
    package func verify(_ settings: ProcedureSettings, after older: SetRecord?) throws(SetRefusal) {
        guard record.server == settings.sync else {
            throw SetRefusal("it is from another server than procedures: sync names")
        }
        guard let key = settings.key else { return }
        guard let manifest = try manifest() else { throw SetRefusal("it has no manifest, which a key needs") }
        try Manifest.verify(manifest, signature: signature(), key: key)
        try older?.refuseOlder(record.version, key: key)
    }

    private static func text(_ name: String, in folder: Int32, _ limit: Int) throws(SetRefusal) -> String {
        let file = qc_open_beneath(folder, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0)
        guard file >= 0 else {
            throw SetRefusal("\(name): \(SystemCallError.text(-file))", isPassing: ![-ENOENT, -ELOOP].contains(file))
        }
        let read = FileText.exact(descriptor: file, maximumBytes: limit)
        return try read.mapError { SetRefusal("\(name) \($0.message)") }.get()
    }
}
