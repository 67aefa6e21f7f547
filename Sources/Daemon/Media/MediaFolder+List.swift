internal import CLinux
internal import Glibc
internal import JSON
internal import Linux
package import QuickConnect

extension MediaFolder {
    /// A file that can be named.
    package struct Entry: Sendable {
        package var name: MediaName
        package var bytes: Int
        /// Changes when the file does.
        package var stamp: Stamp
    }

    /// Identifies one state of a file.
    package struct Stamp: Sendable, Hashable {
        var device: UInt
        var inode: UInt
        var seconds: Int
        var nanoseconds: Int
        var bytes: Int
    }

    /// The most files in a list; more are an error, since a truncated list would be wrong.
    package static let maxFiles = 10_000
    /// How deep subfolders are searched.
    static let deepest = 16

    /// Every file that can be named, sorted by the bytes of the names. A missing folder has none.
    package func list() throws(CommandError) -> [Entry] {
        var entries: [Entry] = []
        try walk { root, path in
            guard entries.count < Self.maxFiles else { return false }
            guard let name = MediaName(validating: path), name.text.utf8.elementsEqual(path.utf8) else { return true }
            if let entry = entry(name, in: root) { entries.append(entry) }
            return true
        }
        guard entries.count < Self.maxFiles else {
            throw CommandError(.tooLarge, "there are \(Self.maxFiles) files and more in the media folder")
        }
        return entries.sorted { $0.name.text.utf8.lexicographicallyPrecedes($1.name.text.utf8) }
    }

    private func entry(_ name: MediaName, in root: OpenFile) -> Entry? {
        guard let status = try? beneath(root, name.text, qc_o_path).status, status.isFile else { return nil }
        let stamp = Stamp(
            device: UInt(status.st_dev),
            inode: UInt(status.st_ino),
            seconds: status.st_mtim.tv_sec,
            nanoseconds: status.st_mtim.tv_nsec,
            bytes: Int(status.st_size)
        )
        return Entry(name: name, bytes: stamp.bytes, stamp: stamp)
    }

    /// Visits everything except folders, including hidden files.
    /// - Parameter visit: gets the path below the media folder; false ends the walk.
    func walk(_ visit: (_ root: OpenFile, _ path: String) -> Bool) throws(CommandError) {
        do throws(SystemCallError) {
            let root = try root()
            _ = walk(root, nil, 0, visit)
        } catch {
            if error.code == ENOENT { return }
            throw CommandError(.unavailable, "the media folder \(path) cannot be read: \(error.reason)")
        }
    }

    private func walk(
        _ root: OpenFile,
        _ folder: String?,
        _ depth: Int,
        _ visit: (OpenFile, String) -> Bool
    ) -> Bool {
        guard depth <= Self.deepest, let opened = try? self.folder(folder ?? ".", in: root) else { return true }
        for (name, isFolder) in Self.members(of: opened) {
            let path = folder.map { "\($0)/\(name)" } ?? name
            let goesOn = isFolder ? walk(root, path, depth + 1, visit) : visit(root, path)
            if !goesOn { return false }
        }
        return true
    }

    private static func members(of folder: OpenFile) -> [(name: String, isFolder: Bool)] {
        let copy = fcntl(folder.descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return [] }
        // The stream takes ownership of the copy.
        guard let stream = fdopendir(copy) else {
            close(copy)
            return []
        }
        defer { closedir(stream) }
        var members: [(name: String, isFolder: Bool)] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(validatingCString: $0) }
            }
            guard let name, name != ".", name != ".." else { continue }
            var status = stat()
            guard fstatat(folder.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            members.append((name, status.isFolder))
        }
        return members
    }
}

/// The space that must stay free on the disk of the media folder, for recordings and uploads.
package struct DiskReserve: Sendable {
    /// Nil: 64 MiB, or a twentieth of a small disk.
    private let bytes: Int?

    package init(bytes: Int?) { self.bytes = bytes }

    /// - Parameter total: the bytes of the whole disk.
    package func bytes(of total: Int) -> Int { bytes ?? min(64 << 20, total / 20) }

    /// Why that many more bytes cannot be written, as `unavailable`; nil if they can. May block.
    package func problem(in folder: MediaFolder, adding more: Int = 0) -> CommandError? {
        guard let space = folder.space else { return nil }
        let reserve = bytes(of: space.total)
        guard space.free - more < reserve else { return nil }
        let text = "the disk is full: \(space.free.inMegabytes) MB are free, and \(reserve.inMegabytes) MB are kept so"
        return CommandError(.unavailable, text, details: ["reserveBytes": .integer(Int64(reserve))])
    }
}

extension Int {
    /// Bytes in megabytes of 2^20.
    package var inMegabytes: Double { (Double(self) / 1_048_576 * 10).rounded() / 10 }
}
