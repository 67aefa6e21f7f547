internal import Glibc

/// The terminal that standard output goes to.
package enum Terminal {
    /// Its width in characters; without a terminal, wide enough not to wrap.
    package static var width: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 4096 }
        return Int(size.ws_col)
    }
}
