internal import Glibc

/// Makes a folder and those above it, where they are missing. On failure `errno` says why.
func makeFolders(_ path: String) -> Bool {
    if mkdir(path, 0o750) == 0 || errno == EEXIST { return true }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return false }
    return makeFolders(String(path[..<slash])) && (mkdir(path, 0o750) == 0 || errno == EEXIST)
}

/// The names in a folder, in the order of their bytes; `nil` if it cannot be read, with `errno` set.
func fileNames(in path: String) -> [String]? {
    guard let folder = opendir(path) else { return nil }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
}

/// Whether the path names a regular file, itself or through a symbolic link.
func isRegularFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
}
