internal import Glibc

extension FileText {
    /// Replaces a file atomically and durably: after a crash or a power loss at any moment there is either the old text
    /// or the new one. May block.
    /// - Parameters:
    ///   - path: the file; `PATH.new` is written first.
    ///   - mode: its permissions; by default nobody but this user can read it.
    package static func replace(_ path: String, with text: String, mode: UInt32 = 0o600) throws(SystemCallError) {
        let temporary = "\(path).new"
        do throws(SystemCallError) {
            try write(text, to: temporary, mode: mode)
            try SystemCallError.check("rename") { rename(temporary, path) }
        } catch {
            unlink(temporary)
            throw error
        }
        try syncFolder(of: path)
    }

    /// Writes a file, and waits until it is on the disk. A crash meanwhile leaves a part of it.
    package static func write(_ text: String, to path: String, mode: UInt32) throws(SystemCallError) {
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
        let descriptor = try SystemCallError.check("open") { open(path, flags, mode) }
        defer { close(descriptor) }
        let code = Descriptor.write(text, to: descriptor)
        guard code == 0 else { throw SystemCallError("write", code) }
        try SystemCallError.check("fsync") { fsync(descriptor) }
    }

    /// Makes the new name of a file or folder survive a power loss.
    package static func syncFolder(of path: String) throws(SystemCallError) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = try SystemCallError.check("open") { open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        defer { close(descriptor) }
        try SystemCallError.check("fsync") { fsync(descriptor) }
    }
}

extension FileText {
    /// Renames a file that cannot be read to its ``damagedName(of:isTaken:)``.
    /// - Returns: its path now.
    package static func setAside(_ path: String) throws(SystemCallError) -> String {
        let other = damagedName(of: path) { exists($0) || isLink($0) }
        try SystemCallError.check("rename") { rename(path, other) }
        return other
    }

    /// What a file that cannot be read is called from then on: `NAME.damaged`, or where that is taken `NAME.damaged.2` and so
    /// on, so that no copy takes the place of another.
    package static func damagedName(of name: String, isTaken: (String) -> Bool) -> String {
        var (other, number) = ("\(name).damaged", 1)
        while isTaken(other) {
            number += 1
            other = "\(name).damaged.\(number)"
        }
        return other
    }
}
