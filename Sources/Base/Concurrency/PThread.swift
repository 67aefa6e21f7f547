internal import CLinux
internal import Glibc

/// Threads for blocking calls, which must not run on Swift's few own threads.
package enum PThread {
    /// Starts a detached thread with all signals blocked.
    /// - Parameter name: shown by `top -H`; the kernel keeps 15 bytes of it.
    /// - Returns: 0, or the error number of `pthread_create`.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Int32 {
        let box = Unmanaged.passRetained(Body(name: name, run: body))
        let result = qc_thread_start(runBody, box.toOpaque())
        if result != 0 { box.release() }
        return result
    }

    /// The same. Throws if it cannot be started.
    package static func run(_ name: String, _ body: @escaping @Sendable () -> Void) throws(Interruption) {
        let code = start(name, body)
        guard code != 0 else { return }
        throw Interruption(.unavailable, "no thread could be started: \(String(cString: strerror(code)))")
    }

    /// The argument passed to a new thread through C.
    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    private static let runBody: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { box in
        guard let box else { return nil }
        let body = Unmanaged<Body>.fromOpaque(box).takeRetainedValue()
        qc_thread_set_name(body.name)
        body.run()
        return nil
    }
}
