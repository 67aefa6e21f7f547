internal import Glibc

/// Folders of the file system.
package enum Folders {
    /// Creates a folder and those above it, if they are missing.
    /// - Parameter mode: by default for this user, and for its group to read.
    package static func make(_ path: String, mode: UInt32 = 0o750) throws(SystemCallError) {
        if mkdir(path, mode) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let parent = parent(of: path) else { throw SystemCallError("mkdir") }
        try make(parent, mode: mode)
        guard mkdir(path, mode) == 0 || errno == EEXIST else { throw SystemCallError("mkdir") }
    }

    /// Creates a folder that only this user may use, with six random characters behind `path-`.
    package static func makeTemporary(_ path: String) throws(SystemCallError) -> String {
        var template = Array("\(path)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemCallError("mkdtemp") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The absolute path; a relative one is relative to the current folder.
    package static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let own = getcwd(nil, 0) else { return path }
        defer { free(own) }
        return "\(String(cString: own))/\(path)"
    }

    /// The folder that a path lies in; nil if it has none above it.
    package static func parent(of path: String) -> String? {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return nil }
        return String(path[..<slash])
    }
}
