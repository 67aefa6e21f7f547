internal import Concurrency
public import JSON

/// The device, as an async program drives it: calls its commands, hears its events, answers calls as a handler.
///
///     let device = DeviceClient()
///     let place = try await device.call("loc", timeout: .seconds(30))
///     for try await event in device.events("accel", ["interval": 0.1]) { print(event.value) }
///
/// It connects by itself, and again when the connection is lost: subscriptions and handlers stand on. A call that was
/// under way then fails as ``CallFailure/connectionLost(_:)``, because nobody knows whether it was done; calls that were not
/// sent yet wait for the next connection. All calls of one `DeviceClient` go over one connection, in the order made.
///
/// It has a thread of its own, which sleeps in poll(2). It ends with ``close()``, or when nobody has the `DeviceClient` any
/// more, its sequences included.
public final class DeviceClient: Sendable {
    let thread: DeviceThread

    /// Connects in the background; no daemon need be there yet.
    /// - Parameters:
    ///   - socket: the daemon's; nil takes `$QUICKCONNECT_SOCKET`, else the system's or the user's, whichever accepts.
    ///   - bounds: how much it may hold.
    public convenience init(
        socket: String? = nil,
        bounds: ClientConversation.Bounds = ClientConversation.Bounds()
    ) {
        let paths = SocketPaths.candidates(named: socket, environment: SocketPaths.environment)
        self.init(paths: paths, bounds: bounds)
    }

    init(paths: [String], bounds: ClientConversation.Bounds) { thread = DeviceThread(paths: paths, bounds) }

    deinit { thread.order(.close(nil)) }

    /// Makes a call, and gives the value of its reply.
    ///
    /// Where the task is cancelled, the wait ends at once with ``CallFailure/cancelled``, and the daemon ends the call.
    /// - Parameters:
    ///   - parameters: an array is the command's parameters, any other value is one parameter, `null` is none.
    ///   - timeout: how long to wait for the reply, a connection included; nil: as long as it takes, also for a daemon that
    ///     is not there.
    public func call(
        _ command: String,
        _ parameters: JSONValue = .null,
        timeout: Duration? = nil
    ) async throws(CallFailure) -> JSONValue {
        try await reply(to: command, parameters, timeout: timeout).value
    }

    /// Makes a call as ``call(_:_:timeout:)`` does, and tells also the command that its reply goes under: `showLoc` for
    /// `loc`.
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

    /// Subscribes to an event, and gives what comes from now on. The subscription ends when the sequence is gone.
    ///
    /// Several sequences of one event share its subscription, with the options that were given last. It is told again to a
    /// daemon that was restarted; what happened meanwhile is lost. The sequence throws where the daemon refuses the
    /// subscription, and ends when the device is closed.
    /// - Parameters:
    ///   - options: the device's, for this event.
    ///   - bufferSize: how many events wait for a slow reader. Of more, the newest are kept, and
    ///     ``DeviceEvents/Event/dropped`` tells how many are missing.
    public func events(_ name: String, _ options: JSONObject? = nil, bufferSize: Int = 64) -> DeviceEvents {
        DeviceEvents(name, options, bufferSize, self)
    }

    /// Why there is no connection now, for people; nil where there is one, or none was tried yet. It is being tried again.
    public var connectionProblem: String? { thread.problem }

    /// Ends the connection. Calls without a reply fail, sequences and handlers end, and whatever is asked later fails.
    public func close() async {
        let promise = Deferred<Void, Interruption>()
        thread.order(.close(promise))
        _ = try? await promise.value()
    }
}
