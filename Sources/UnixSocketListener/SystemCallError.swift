import Glibc

/// A system call that failed: its name, errno, and the text for it.
public struct SystemCallError: Error, Sendable, CustomStringConvertible {
    public var call: String
    public var code: CInt

    init(_ call: String, _ code: CInt) {
        self.call = call
        self.code = code
    }

    public var description: String { "\(call): \(String(cString: strerror(code))) (errno \(code))" }

    /// Runs a call that answers −1 on failure, again when a signal interrupted it.
    @discardableResult
    static func check(_ name: String, _ call: () -> CInt) throws(SystemCallError) -> CInt {
        while true {
            let result = call()
            if result >= 0 { return result }
            guard errno == EINTR else { throw SystemCallError(name, errno) }
        }
    }
}
