internal import Glibc
import Linux

/// The attributes of a device in sysfs, one file each.
struct SysfsFolder: Sendable {
    let path: String

    /// No attribute is longer (sysfs(5): a page).
    private static let mostBytes = 4096

    func has(_ name: String) -> Bool { FileText.exists("\(path)/\(name)") }

    func mayWrite(_ name: String) -> Bool { access("\(path)/\(name)", W_OK) == 0 }

    /// The names of its files, or of the files in a subfolder.
    func names(in folder: String = ".") -> [String] { FileText.names(in: "\(path)/\(folder)") ?? [] }

    /// The text of an attribute, without white space around it, up to a NUL: `current_timestamp_clock` has one.
    func text(_ name: String) throws(SystemCallError) -> String {
        let file = try open(name, O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Self.mostBytes)
        let count = try SystemCallError.check("reading \(name)") { Int32(read(file, &bytes, bytes.count)) }
        let text = String(decoding: bytes.prefix(Int(count)).prefix { $0 != 0 }, as: UTF8.self)
        let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) } ?? text.startIndex
        return String(text[..<end].drop(while: \.isWhitespace))
    }

    /// The same; nil if it is missing or cannot be read.
    func textIfAny(_ name: String) -> String? {
        do throws(SystemCallError) { return try text(name) } catch { return nil }
    }

    /// The text of the first of these attributes that exists.
    func text(ofFirst names: [String]) -> String? {
        names.lazy.compactMap { self.textIfAny($0) }.first
    }

    func number(ofFirst names: [String]) -> Double? { text(ofFirst: names).flatMap { Double(text: $0) } }

    func write(_ text: String, to name: String) throws(SystemCallError) {
        let file = try open(name, O_WRONLY | O_TRUNC)
        defer { close(file) }
        let code = Descriptor.write(text, to: file)
        if code != 0 { throw SystemCallError("writing \(text) to \(name)", code) }
    }

    /// The same for a setting that is useful but not required.
    func writeIfPossible(_ text: String, to name: String) {
        do throws(SystemCallError) { try write(text, to: name) } catch {}
    }

    private func open(_ name: String, _ flags: Int32) throws(SystemCallError) -> Int32 {
        let file = "\(path)/\(name)"
        return try SystemCallError.check("opening \(name)") { Glibc.open(file, flags | O_CLOEXEC) }
    }
}
