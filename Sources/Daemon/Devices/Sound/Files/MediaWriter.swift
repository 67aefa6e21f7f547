package import MediaFolder

/// A writer of files in the media folder, as seen by their readers.
package protocol MediaWriter: Sendable {
    /// Runs `body` once nobody is closing that file: at once, or when the file has its final name or has failed. Never
    /// blocks.
    /// - Parameter body: runs on any thread, and must not block.
    func whenClosed(_ name: MediaName, _ body: @escaping @Sendable () -> Void)
}
