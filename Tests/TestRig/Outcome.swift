public import Concurrency
public import QuickConnect

/// How a promise was settled.
public func outcome<Value>(_ promise: Promise<Value>) async -> Result<Value, CommandError> {
    do { return .success(try await promise.value()) } catch { return .failure(error) }
}

extension Result where Failure == CommandError {
    /// The code it failed with; `nil` if it did not fail.
    public var code: CommandError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }

    public var message: String {
        if case .failure(let error) = self { error.message } else { "" }
    }
}

/// How long a body takes.
public func seconds(_ body: () async throws -> Void) async rethrows -> Double {
    let start = ContinuousClock.now
    try await body()
    return start.duration(to: .now) / .seconds(1)
}
