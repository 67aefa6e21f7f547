public import MediaFolder

/// Whoever writes files of the media folder, as those see it who are to read them.
public protocol MediaWriter: Sendable {
    /// Runs `body` once nobody is closing that file: at once where that is so, else when the file stands under its name
    /// or never will. Never blocks.
    /// - Parameter body: runs on any thread, and must not block.
    func whenClosed(_ name: MediaName, _ body: @escaping @Sendable () -> Void)
}
