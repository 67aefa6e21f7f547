internal import Glibc

/// A system call that failed: its name, errno, and the text for it.
package struct SystemCallError: Error, Sendable, CustomStringConvertible {
    package var call: String
    package var code: Int32

    /// - Parameter code: errno; read at once if not given.
    package init(_ call: String, _ code: Int32? = nil) {
        let code = code ?? errno
        self.call = call
        self.code = code
    }

    /// Whether a deadline passed.
    package var isTimeout: Bool { code == ETIMEDOUT }

    package var description: String { "\(call): \(Self.text(code)) (errno \(code))" }

    /// The text of strerror(3) for an error number, on any thread.
    package static func text(_ code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            buffer.initialize(repeating: 0)
            guard let base = buffer.baseAddress, strerror_r(code, base, buffer.count) == 0 else {
                return "error \(code)"
            }
            return String(cString: base)
        }
    }

    /// Makes a call that returns −1 on failure, again if a signal interrupted it.
    @discardableResult
    package static func check(_ name: String, _ call: () -> Int32) throws(SystemCallError) -> Int32 {
        while true {
            let result = call()
            if result >= 0 { return result }
            guard errno == EINTR else { throw SystemCallError(name) }
        }
    }
}
