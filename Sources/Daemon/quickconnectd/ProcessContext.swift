import Concurrency
import Linux

/// What the process was given, and has begun with.
struct ProcessContext {
    let environment: [String: String]
    /// The socket to make where neither the settings nor systemd say another.
    let defaultSocket: String
    let signals: Signals
    let pool: ThreadPool
}
