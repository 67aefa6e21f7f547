import CommandLineText
import Glibc
import Linux

/// Files here: their names for files of the media folder, and their texts.
enum LocalFile {
    /// The local path for a file, given a name, a folder, or nothing.
    static func target(_ to: String?, for file: String) -> String {
        let own = name(of: file)
        guard let to else { return own }
        var status = stat()
        guard stat(to, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return to }
        return to.hasSuffix("/") ? to + own : "\(to)/\(own)"
    }

    /// The last part of a path. As in the media folder, what has no ending gets `.caf`.
    private static func name(of file: String) -> String {
        let name = last(of: file)
        return name.contains(".") ? name : "\(name).caf"
    }

    /// The text of a file, without which there is nothing to do.
    static func text(_ path: String, maximumBytes: Int) throws(ExitError) -> String {
        let read = FileText.read(path, maximumBytes: maximumBytes)
        return try read.mapError { ExitError(message: "\(path) \($0.message)") }.get()
    }

    /// Does something to a file, without which there is nothing more to do.
    static func change<Value>(_ path: String, _ body: () throws(SystemCallError) -> Value) throws(ExitError) -> Value {
        do throws(SystemCallError) { return try body() } catch { throw ExitError(local: path, error) }
    }

    static func last(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
}

/// Says something besides the answer.
func note(_ text: String) { write("quickconnect: \(text)\n", to: STDERR_FILENO) }

extension ExitError {
    /// A file here that cannot be read or written.
    init(local path: String, _ error: SystemCallError) { self.init(message: "\(path): \(error)") }
}
