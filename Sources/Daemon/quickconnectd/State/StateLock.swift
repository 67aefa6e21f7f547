import Glibc
import Linux
import Logging

/// Tells of a second daemon on the folder of the kept values, where each overwrites what the other has written.
enum StateLock {
    /// Holds a folder until this process ends; warns where another one does.
    static func hold(_ folder: String, _ logger: Logger) {
        let path = "\(folder)/quickconnectd.lock"
        do throws(SystemCallError) {
            try Folders.make(folder)
            let descriptor = try FileLock.take(path, waits: false)
            // For whoever comes second.
            _ = ftruncate(descriptor, 0)
            _ = Descriptor.write("\(getpid())\n", to: descriptor)
        } catch {
            // Where nothing can be written, nothing is kept.
            guard error.code == EWOULDBLOCK else { return }
            let holder = (try? FileText.exact(path, maximumBytes: 32).get())?.split(separator: "\n").first
            let name = holder.map { "another daemon, process \($0)," } ?? "another daemon"
            logger.warning(
                "\(name) keeps its values in \(folder), and each overwrites the other's: give one a folder with --media"
            )
        }
    }
}
