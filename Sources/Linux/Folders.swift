internal import Glibc

/// Makes a folder and those above it, where they are missing. On failure `errno` says why.
public func makeFolders(_ path: String) -> Bool {
    if mkdir(path, 0o750) == 0 || errno == EEXIST { return true }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return false }
    return makeFolders(String(path[..<slash])) && (mkdir(path, 0o750) == 0 || errno == EEXIST)
}
