/// Why nothing was fetched.
struct FetchFailure: Error {
    /// Whether the server did not answer; otherwise its answer was refused.
    var isUnreachable: Bool
    /// Whether another attempt may succeed.
    var isPassing: Bool
    var message: String

    static func unreachable(_ message: String) -> FetchFailure {
        FetchFailure(isUnreachable: true, isPassing: true, message: message)
    }

    /// - Parameter isPassing: whether another attempt may succeed, for example because the server's files were being
    ///   changed.
    static func refused(_ message: String, isPassing: Bool = false) -> FetchFailure {
        FetchFailure(isUnreachable: false, isPassing: isPassing, message: message)
    }
}
