/// Why nothing was fetched.
struct FetchFailure: Error {
    /// Whether the server did not answer; else it answered with what is not taken.
    var isUnreachable: Bool
    /// Whether it may be otherwise in a moment.
    var isPassing: Bool
    var message: String

    static func unreachable(_ message: String) -> FetchFailure {
        FetchFailure(isUnreachable: true, isPassing: true, message: message)
    }

    /// - Parameter isPassing: such as where the server's files were being changed.
    static func refused(_ message: String, isPassing: Bool = false) -> FetchFailure {
        FetchFailure(isUnreachable: false, isPassing: isPassing, message: message)
    }
}
