internal import Glibc

/// Reads whole text files.
public enum FileText {
    public struct Problem: Error {
        public var message: String

        /// - Parameter message: words that follow the path.
        public init(message: String) { self.message = message }
    }

    /// The text of a file, at most that long, in UTF-8.
    public static func read(_ path: String, maximumBytes: Int) -> Result<String, Problem> {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return .failure(problem("cannot be opened")) }
        return read(descriptor: descriptor, maximumBytes: maximumBytes)
    }

    /// The text of an open file. Closes the descriptor.
    public static func read(descriptor: Int32, maximumBytes: Int) -> Result<String, Problem> {
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
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
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return .failure(Problem(message: "is not UTF-8"))
        }
        return .success(text)
    }

    /// The names in a folder, sorted by bytes; nil with errno if it cannot be read.
    public static func names(in folder: String) -> [String]? {
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

    public static func problem(_ what: String) -> Problem {
        Problem(message: "\(what): \(SystemCallError.text(errno))")
    }

    public static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}
