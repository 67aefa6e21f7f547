import Glibc

/// A system call on the socket that failed: its name, errno, and the text for it.
public struct SocketFailure: Error, Sendable, CustomStringConvertible {
    public var call: String
    public var code: Int32

    init(_ call: String, _ code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    /// Whether a deadline passed.
    public var isTimeout: Bool { code == ETIMEDOUT }

    public var description: String { "\(call): \(String(cString: strerror(code)))" }
}
