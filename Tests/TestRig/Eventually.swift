internal import Glibc

/// How many times longer a test waits than it says, where all of the machine is slow, as under an emulator: `QUICKCONNECT_PATIENCE`.
private let patience = max(1, getenv("QUICKCONNECT_PATIENCE").flatMap { Int(String(cString: $0)) } ?? 1)

/// What a test waited for did not come.
public struct NotInTime: Error, CustomStringConvertible {
    public let description: String

    public init(description: String) { self.description = description }
}

/// Waits until a condition holds; looks every few milliseconds.
/// - Parameters:
///   - what: for the error's text, such as `the server answers`.
///   - limit: long, since the machine may be busy. The condition is met much sooner in general.
public func eventually(
    _ what: String,
    within limit: Duration = .seconds(20),
    _ condition: () async throws -> Bool
) async throws {
    let limit = limit * patience
    let end = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < end else { throw NotInTime(description: "not within \(limit): \(what)") }
        try await Task.sleep(for: .milliseconds(5))
    }
}
