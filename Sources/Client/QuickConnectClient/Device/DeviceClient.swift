internal import Concurrency
internal import Glibc
public import JSON
internal import Linux

/// The device, for async programs: calls its commands, receives its events, answers calls as a handler.
///
///     let device = DeviceClient()
///     let place = try await device.call("loc", timeout: .seconds(30))
///     for try await event in device.events("accel", ["interval": 0.1]) { print(event.value) }
///
/// It connects by itself, and reconnects when the connection is lost; subscriptions and handlers are kept. A call that
/// was running then fails as ``CallFailure/connectionLost(_:)``, because it is unknown whether it was done; calls that
/// were not yet sent wait for the next connection. All calls of one `DeviceClient` go over one connection, in the order
/// made.
///
/// It has a thread of its own, which sleeps in poll(2). It ends with ``close()``, or when the last reference to the
/// `DeviceClient` and its sequences is gone.
public final class DeviceClient: Sendable {
    let thread: DeviceThread

    /// Connects in the background; the daemon need not be running yet.
    /// - Parameters:
    ///   - socket: the path of the daemon's socket; nil uses `$QUICKCONNECT_SOCKET`, or the system's or the user's
    ///     socket, whichever accepts.
    ///   - bounds: its limits.
    ///   - warn: gets the daemon's warnings, such as that no call comes to a handler, or that a reload has taken it; nil
    ///     prints them on standard error. Called on the device's thread.
    public convenience init(
        socket: String? = nil,
        bounds: ClientConversation.Bounds = ClientConversation.Bounds(),
        warn: (@Sendable (String) -> Void)? = nil
    ) {
        let paths = SocketPaths.candidates(named: socket, environment: SocketPaths.environment)
        self.init(paths: paths, bounds: bounds, warn: warn)
    }

    init(paths: [String], bounds: ClientConversation.Bounds, warn: (@Sendable (String) -> Void)? = nil) {
        thread = DeviceThread(paths: paths, bounds, warn ?? { Descriptor.write("\($0)\n", to: STDERR_FILENO) })
    }

    deinit { thread.order(.close(nil)) }

    /// Makes a call, and returns the value of its reply.
    ///
    /// If the task is cancelled, the wait ends at once with ``CallFailure/cancelled``, and the daemon ends the call.
    /// - Parameters:
    ///   - parameters: an array is the command's parameters, any other value is one parameter, `null` is none.
    ///   - timeout: how long to wait for the reply, a connection included; nil: no limit, even if no daemon is running.
    public func call(
        _ command: String,
        _ parameters: JSONValue = .null,
        timeout: Duration? = nil
    ) async throws(CallFailure) -> JSONValue {
        try await reply(to: command, parameters, timeout: timeout).value
    }

    /// Makes a call like ``call(_:_:timeout:)``, and also returns the command of the reply: `showLoc` for `loc`.
    public func reply(
        to command: String,
        _ parameters: JSONValue = .null,
        timeout: Duration? = nil
    ) async throws(CallFailure) -> (command: String, value: JSONValue) {
        let promise = DeviceThread.Promise()
        thread.order(.call(command, .value(parameters), timeout.map { .now + $0 }, promise))
        let answer: DeviceThread.Answer
        do throws(Interruption) {
            answer = try await promise.value()
        } catch {
            thread.order(.cancel(promise))
            throw .cancelled
        }
        return try answer.get()
    }

    /// Subscribes to an event, and returns a sequence of what follows. The subscription ends when the sequence is
    /// released.
    ///
    /// Several sequences of one event share its subscription, with the options that were given last. It is renewed
    /// after the daemon was restarted; events in between are lost. The sequence throws if the daemon refuses the
    /// subscription, and ends when the device is closed.
    /// - Parameters:
    ///   - options: the device's options for this event.
    ///   - bufferSize: how many events are buffered for a slow reader. If there are more, the newest are kept, and
    ///     ``DeviceEvents/Event/dropped`` tells how many are missing.
    public func events(_ name: String, _ options: JSONObject? = nil, bufferSize: Int = 64) -> DeviceEvents {
        DeviceEvents(name, options, bufferSize, self)
    }

    /// Why there is no connection now, for people; nil if there is one, or none was tried yet. The client keeps trying.
    public var connectionProblem: String? { thread.problem }

    /// Ends the connection. Calls without a reply fail, sequences and handlers end, and later calls fail.
    public func close() async {
        let promise = Deferred<Void, Interruption>()
        thread.order(.close(promise))
        _ = try? await promise.value()
    }
}
