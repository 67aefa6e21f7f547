internal import Glibc

/// Reads whole text files.
package enum FileText {
    package struct Problem: Error {
        package var message: String
        /// The line of the text that is meant, counted from 1; nil: the whole file.
        package var line: Int?
        /// Whether nothing is at the path.
        package fileprivate(set) var isMissing = false

        /// - Parameter message: words that follow the path.
        package init(message: String, line: Int? = nil) {
            self.message = message
            self.line = line
        }
    }

    /// The text of a file that a person or a program of any system has written, at most that long, in UTF-8. A byte order
    /// mark is no part of it, its lines end with LF whatever ended them (LF, CR LF or CR), and what holds a NUL is no text.
    package static func read(_ path: String, maximumBytes: Int) -> Result<String, Problem> {
        read(descriptor: open(path), maximumBytes: maximumBytes)
    }

    /// The text of an open file. Closes the descriptor.
    package static func read(descriptor: Int32, maximumBytes: Int) -> Result<String, Problem> {
        bytes(descriptor, maximumBytes).flatMap { bytes in
            if let end = bytes.firstIndex(of: 0) {
                let line = plain(bytes[..<end]).count { $0 == UInt8(ascii: "\n") } + 1
                return .failure(Problem(message: "is no text: there is a NUL byte in line \(line)", line: line))
            }
            return text(plain(bytes[...]))
        }
    }

    /// The text as it is: of what was signed, of the kernel's files, and of what this project has written for itself, which
    /// may be damaged.
    package static func exact(_ path: String, maximumBytes: Int) -> Result<String, Problem> {
        exact(descriptor: open(path), maximumBytes: maximumBytes)
    }

    /// The same of an open file. Closes the descriptor.
    package static func exact(descriptor: Int32, maximumBytes: Int) -> Result<String, Problem> {
        bytes(descriptor, maximumBytes).flatMap(text)
    }

    private static func open(_ path: String) -> Int32 { Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }

    private static func text(_ bytes: [UInt8]) -> Result<String, Problem> {
        if let text = String(validating: bytes, as: UTF8.self) { return .success(text) }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let line = (lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0) + 1
        return .failure(Problem(message: "is not UTF-8 in line \(line)", line: line))
    }

    /// A text with line ends of this system, and no byte order mark.
    package static func plain(_ text: String) -> String {
        text.utf8.contains(carriageReturn) || text.utf8.starts(with: mark)
            ? String(decoding: plain(Array(text.utf8)[...]), as: UTF8.self) : text
    }

    private static let carriageReturn = UInt8(ascii: "\r")
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private static func plain(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let rest = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes
        guard rest.contains(carriageReturn) else { return Array(rest) }
        var plain: [UInt8] = []
        plain.reserveCapacity(rest.count)
        for (index, byte) in zip(rest.indices, rest) {
            if byte == UInt8(ascii: "\n"), index > rest.startIndex, rest[index - 1] == carriageReturn { continue }
            plain.append(byte == carriageReturn ? UInt8(ascii: "\n") : byte)
        }
        return plain
    }

    private static func bytes(_ descriptor: Int32, _ maximumBytes: Int) -> Result<[UInt8], Problem> {
        guard descriptor >= 0 else { return .failure(problem("cannot be opened")) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.isFile else {
            return .failure(Problem(message: "is not a regular file"))
        }
        guard status.st_size <= maximumBytes else {
            return .failure(Problem(message: "is larger than \(maximumBytes) bytes"))
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= maximumBytes {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return .failure(problem("cannot be read")) }
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
        }
        return .success(bytes)
    }

    /// The names in a folder, sorted by bytes; nil with errno if it cannot be read.
    package static func names(in folder: String) -> [String]? {
        guard let directory = opendir(folder) else { return nil }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            names.append(name)
        }
        return names.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
    }

    package static func problem(_ what: String) -> Problem {
        let code = errno
        var problem = Problem(message: "\(what): \(SystemCallError.text(code))")
        problem.isMissing = code == ENOENT
        return problem
    }

    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Whether a path leads to a regular file.
    package static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.isFile
    }

    /// Whether a path is a symbolic link, though what it leads to may be missing.
    package static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }
}
