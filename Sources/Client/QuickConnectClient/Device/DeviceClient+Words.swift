public import JSON

/// The words that all clients have, besides ``DeviceClient/call(_:_:timeout:)`` and
/// ``DeviceClient/handle(_:atOnce:endsWithCaller:_:)``.
extension DeviceClient {
    /// Runs the body for each event of that name, until the task is cancelled or the device is closed. Throws what the
    /// body throws, and a ``CallFailure`` if the daemon refuses the subscription.
    ///
    ///     try await device.on("doorbell") { data, name in print(name, data) }
    public func on(
        _ event: String,
        _ options: JSONObject? = nil,
        _ body: @Sendable (_ data: JSONValue, _ name: String) async throws -> Void
    ) async throws {
        for try await happened in events(event, options) { try await body(happened.value, event) }
    }

    /// The present value. Throws `notFound` if there is no value of that name.
    public func value(_ name: String) async throws(CallFailure) -> JSONValue {
        let subscription = DeviceEvents.Subscription(watching: name, self)
        defer { withExtendedLifetime(subscription) {} }
        if let value = try await subscription.mailbox.next() { return value.element }
        throw Task.isCancelled ? .cancelled : .connectionLost("the device was closed")
    }

    /// Runs the body with the present value and at each change, also if it changed while there was no connection, until
    /// the task is cancelled or the device is closed. Throws what the body throws, and a ``CallFailure`` if there is no
    /// such value (`notFound`) or the daemon refuses it. For a slow body the newest 64 values are kept.
    ///
    ///     try await device.value("visitors") { visitors in print(visitors) }
    public func value(_ name: String, _ body: @Sendable (_ value: JSONValue) async throws -> Void) async throws {
        let subscription = DeviceEvents.Subscription(watching: name, self)
        defer { withExtendedLifetime(subscription) {} }
        var last: JSONValue?
        while let value = try await subscription.mailbox.next()?.element {
            guard value != last else { continue }
            last = value
            try await body(value)
        }
    }

    /// Sets a value, and returns what it became, for example after clamping.
    @discardableResult
    public func set(_ name: String, _ value: JSONValue) async throws(CallFailure) -> JSONValue {
        guard value != .null else {
            let sentence = "\(name) cannot be set to null, which reads it"
            let error: JSONValue = ["code": "invalid", "message": .string(sentence)]
            throw .refused(ErrorReply(error))
        }
        return try await call(name, [value])
    }

    /// Adds to a value that is a number, in one step, so that no count is lost, and returns what it became.
    @discardableResult
    public func add(_ name: String, _ number: JSONValue = 1) async throws(CallFailure) -> JSONValue {
        try await call(name, [.null, ["add": number]])
    }

    /// Sends an event to those who listen to it.
    public func post(_ event: String, _ data: JSONValue = .null) async throws(CallFailure) {
        _ = try await call("post", [.string(event), data])
    }
}
