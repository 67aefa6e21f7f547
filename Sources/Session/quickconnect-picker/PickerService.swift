import JSON
import Linux
import QuickConnect
import QuickConnectClient

/// Answers the daemon's calls for the pickers and the screen, until it is stopped or cannot go on.
struct PickerService: Sendable {
    private typealias Body = @Sendable (HandlerCall) async throws -> HandlerCall.Answer

    private let device: DeviceClient
    private let desk: DialogQueue
    private let screen: Screen
    private let log: ServiceLog
    /// How long to wait before trying again to register a name that another client has.
    private static let pause = Duration.seconds(5)

    init(_ device: DeviceClient, _ desk: DialogQueue, _ screen: Screen, _ log: ServiceLog) {
        self.device = device
        self.desk = desk
        self.screen = screen
        self.log = log
    }

    /// - Returns: the exit status.
    func run(until stop: Stop) async -> Int32 {
        await withTaskGroup(of: Int32.self) { group in
            group.addTask {
                await stop.wait()
                return 0
            }
            group.addTask {
                await sayWhyNot()
                return await failWithoutDisplay()
            }
            for picker in Pickers.all {
                group.addTask { await serve(picker.name, atOnce: 16) { call in try await answer(call, picker) } }
            }
            // Two changes of one screen at once would read back each other's.
            group.addTask { await serve(Screen.handler, atOnce: 1) { call in try await change(call) } }
            let status = await group.next() ?? 0
            group.cancelAll()
            return status
        }
    }

    /// Says why there is no connection, if there is none at once.
    private func sayWhyNot() async {
        try? await Task.sleep(for: .milliseconds(300))
        if let problem = device.connectionProblem { log.write("\(problem); waiting for one", .warning) }
    }

    /// There is nothing more to do when the session is over.
    private func failWithoutDisplay() async -> Int32 {
        guard let reason = await desk.displayIsGone() else { return 0 }
        log.write(reason, .error)
        return 1
    }

    private func serve(_ name: String, atOnce: Int, _ body: @escaping Body) async -> Int32 {
        var hasTold = false
        while !Task.isCancelled {
            do throws(CallFailure) {
                try await device.answer(name, atOnce: atOnce, endsWithCaller: true, body)
                return 0
            } catch {
                guard error.code == CommandError.Code.busy.rawValue else {
                    log.write("the daemon refuses the handler \(name): \(error.message)", .error)
                    return 1
                }
                if !hasTold { log.write("waits until \(name) is free: \(error.message)", .warning) }
                hasTold = true
            }
            try? await Task.sleep(for: Self.pause)
        }
        return 0
    }

    private func answer(_ call: HandlerCall, _ picker: any Picker) async throws -> HandlerCall.Answer {
        log.write("\(call.command): a dialog for \(call.caller["user"]?.stringValue ?? "somebody")", .info)
        do {
            let results = try await desk.ask(picker.dialog(call.parameters), for: call.command)
            return HandlerCall.Answer(.array(results), replyCommand: "showPickResults")
        } catch {
            log.write("\(call.command): \((error as? HandlerCall.Failure)?.message ?? "\(error)")", .info)
            throw error
        }
    }

    /// Answers what the screen is then, and tells all who listen.
    private func change(_ call: HandlerCall) async throws -> HandlerCall.Answer {
        guard let changes = call.parameters.first.flatMap({ $0 == .null ? nil : $0 }) else {
            return HandlerCall.Answer(try await screen.look())
        }
        do throws(HandlerCall.Failure) {
            try await screen.change(ScreenState(changes))
        } catch {
            log.write("\(call.command): \(error.message)", .info)
            // A part of it may be done.
            if error.code == .unavailable { _ = try? await tell() }
            throw error
        }
        return HandlerCall.Answer(try await tell())
    }

    /// Tells all who listen how the screen is now.
    private func tell() async throws(HandlerCall.Failure) -> JSONValue {
        let state = try await screen.look()
        try? await device.post("screenState", state)
        return state
    }
}
