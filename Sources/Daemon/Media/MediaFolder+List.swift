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

    /// Files and folders whose names no command can give: nobody can list, play or remove them. Names of bytes that are no
    /// UTF-8 have U+FFFD in their place. Hidden files are not meant.
    package func unnamable() throws(CommandError) -> [String] {
        var names: [String] = []
        func isHidden(_ path: String) -> Bool {
            path.utf8.split(separator: UInt8(ascii: "/")).contains { $0.first == UInt8(ascii: ".") }
        }
        try walk { _, path in
            if !isHidden(path), MediaName(validating: path)?.text.utf8.elementsEqual(path.utf8) != true {
                names.append(path)
            }
            return names.count < Self.maxFiles
        } notUTF8: {
            if !isHidden($0) { names.append($0) }
        }
        return names.sorted()
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
    /// - Parameters:
    ///   - visit: gets the path below the media folder; false ends the walk.
    ///   - notUTF8: gets the path of a file or folder whose name is no UTF-8, as far as it can be read.
    func walk(
        _ visit: (_ root: OpenFile, _ path: String) -> Bool,
        notUTF8: (_ path: String) -> Void = { _ in }
    ) throws(CommandError) {
        do throws(SystemCallError) {
            let root = try root()
            _ = walk(root, nil, 0, visit, notUTF8)
        } catch {
            if error.code == ENOENT { return }
            throw CommandError(.unavailable, "the media folder \(path) cannot be read: \(error.reason)")
        }
    }

    private func walk(
        _ root: OpenFile,
        _ folder: String?,
        _ depth: Int,
        _ visit: (OpenFile, String) -> Bool,
        _ notUTF8: (String) -> Void
    ) -> Bool {
        guard depth <= Self.deepest, let opened = try? self.folder(folder ?? ".", in: root) else { return true }
        for (name, kind) in Self.members(of: opened) {
            let path = folder.map { "\($0)/\(name)" } ?? name
            let goesOn: Bool
            switch kind {
            case .folder: goesOn = walk(root, path, depth + 1, visit, notUTF8)
            case .other: goesOn = visit(root, path)
            case .notUTF8:
                notUTF8(path)
                goesOn = true
            }
            if !goesOn { return false }
        }
        return true
    }

    private enum MemberKind {
        case folder, other
        /// Its name can be shown only.
        case notUTF8
    }

    private static func members(of folder: OpenFile) -> [(name: String, kind: MemberKind)] {
        let copy = fcntl(folder.descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return [] }
        // The stream takes ownership of the copy.
        guard let stream = fdopendir(copy) else {
            close(copy)
            return []
        }
        defer { closedir(stream) }
        var members: [(name: String, kind: MemberKind)] = []
        while let entry = readdir(stream) {
            let (name, shown) = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) {
                    (String(validatingCString: $0), String(cString: $0))
                }
            }
            guard let name else {
                members.append((shown, .notUTF8))
                continue
            }
            guard name != ".", name != ".." else { continue }
            var status = stat()
            guard fstatat(folder.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            members.append((name, status.isFolder ? .folder : .other))
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
