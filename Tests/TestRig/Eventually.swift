internal import Glibc

/// How many times longer a test waits, where all of the machine is slow, as under an emulator: `QUICKCONNECT_SLOWNESS`.
private let slowness = max(1, getenv("QUICKCONNECT_SLOWNESS").flatMap { Int(String(cString: $0)) } ?? 1)

/// The one guard against hanging: what a test awaits comes much sooner in general, and is no verdict about time. A test that awaits
/// something longer on purpose says so.
public let hangGuard = Duration.seconds(60) * slowness

/// What a test waited for did not come.
public struct NotInTime: Error, CustomStringConvertible {
    public let description: String

    public init(description: String) { self.description = description }
}

/// Waits until a condition holds; looks every few milliseconds.
/// - Parameters:
///   - what: for the error's text, such as `the server answers`.
///   - limit: for what takes longer than a minute.
public func eventually(
    _ what: String,
    within limit: Duration = hangGuard,
    _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < end else { throw NotInTime(description: "not within \(limit): \(what)") }
        // Sleeps between looks.
        try await Task.sleep(for: .milliseconds(5))
    }
}
