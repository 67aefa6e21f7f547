public import JSON
internal import QuickConnect

extension DeviceClient {
    /// Registers a handler and answers its calls, until the task is cancelled or the device is closed. Then the handler
    /// is removed.
    ///
    ///     try await device.handle("brighten") { call in
    ///         guard let level = call.parameters.first?.numberValue else {
    ///             throw HandlerCall.Failure(.invalid, "a level is missing", field: "/0")
    ///         }
    ///         return .number(lamp.brighten(to: level))
    ///     }
    ///
    /// Calls run concurrently, each in a task of its own. The caller gets what the body throws: a
    /// ``HandlerCall/Failure`` or a ``CallFailure`` with its code, anything else as `scriptFailed`. Throws if the
    /// daemon refuses the handler, for example with `busy` because another client has it. That can also happen later,
    /// after the daemon was restarted.
    /// - Parameters:
    ///   - atOnce: how many calls may run at the same time; more wait.
    ///   - endsWithCaller: whether a call's task is cancelled when nobody waits for its answer any more: its caller is
    ///     gone, has cancelled it or its time ran out, or the connection to the daemon was lost. Useful for something a
    ///     person sees, such as a dialog. Otherwise it runs to its end.
    ///   - body: answers a call with a result.
    public func handle(
        _ name: String,
        atOnce: Int = 16,
        endsWithCaller: Bool = false,
        _ body: @escaping @Sendable (HandlerCall) async throws -> JSONValue
    ) async throws(CallFailure) {
        try await answer(name, atOnce: atOnce, endsWithCaller: endsWithCaller) { call in
            HandlerCall.Answer(try await body(call))
        }
    }

    /// The same with everything an answer can contain: the command of the reply, and whether the stack ends.
    public func answer(
        _ name: String,
        atOnce: Int = 16,
        endsWithCaller: Bool = false,
        _ body: @escaping @Sendable (HandlerCall) async throws -> HandlerCall.Answer
    ) async throws(CallFailure) {
        let calls = Mailbox<HandlerTask>(size: Self.waitingCalls)
        thread.order(.handle(name, hearsCancel: endsWithCaller, calls))
        let failure = await withTaskGroup(of: Void.self) { group in
            let failure = await serve(calls, atOnce: atOnce, &group, body)
            group.cancelAll()
            return failure
        }
        thread.order(.unhandle(name, calls))
        if let failure { throw failure }
    }

    /// The most calls that wait for a handler; one more gets `overloaded`.
    private static let waitingCalls = 1024

    /// Returns why it has ended; nil if this program wanted it to end.
    private func serve(
        _ calls: Mailbox<HandlerTask>,
        atOnce: Int,
        _ group: inout TaskGroup<Void>,
        _ body: @escaping @Sendable (HandlerCall) async throws -> HandlerCall.Answer
    ) async -> CallFailure? {
        var running = 0
        do throws(CallFailure) {
            while let call = try await calls.next() {
                if running >= max(1, atOnce) {
                    await group.next()
                    running -= 1
                }
                running += 1
                let (thread, task) = (thread, call.element)
                group.addTask {
                    await task.run { call in thread.order(.answer(call, await Self.outcome(of: call, body))) }
                }
            }
            return nil
        } catch {
            return error
        }
    }

    private static func outcome(
        of call: HandlerCall,
        _ body: (HandlerCall) async throws -> HandlerCall.Answer
    ) async -> Result<HandlerCall.Answer, HandlerCall.Failure> {
        do {
            return .success(try await body(call))
        } catch let failure as HandlerCall.Failure {
            return .failure(failure)
        } catch let failure as CallFailure {
            return .failure(HandlerCall.Failure(CommandError.Code(rawValue: failure.code), failure.message))
        } catch is CancellationError {
            // If the caller is gone instead, nobody receives this.
            return .failure(HandlerCall.Failure(.unavailable, "the handler \(call.handler) is being removed"))
        } catch {
            return .failure(HandlerCall.Failure(nil, "\(error)"))
        }
    }
}
