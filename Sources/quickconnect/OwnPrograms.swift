import Glibc

/// The programs that are installed with this one.
enum OwnPrograms {
    /// A program beside this one, or in `../libexec/quickconnect`; else its name alone, for `PATH`.
    static func path(_ name: String) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        let own = String(decoding: buffer.prefix(max(length, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let slash = own.lastIndex(of: "/") else { return name }
        let folder = own[..<slash]
        let candidates = ["\(folder)/\(name)", "\(folder)/../libexec/quickconnect/\(name)"]
        return candidates.first { access($0, X_OK) == 0 } ?? name
    }
}
