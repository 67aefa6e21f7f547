import JSON
import Linux
import QuickConnect
import QuickConnectClient

/// Answers the daemon's calls for this session, until it is stopped or cannot go on.
struct SessionService: Sendable {
    private let device: DeviceClient
    private let commands: [any SessionCommand]
    private let desk: DialogQueue
    private let log: ServiceLog
    /// How long to wait before trying again to register a name that another client has.
    private static let pause = Duration.seconds(5)

    init(_ device: DeviceClient, _ commands: [any SessionCommand], _ desk: DialogQueue, _ log: ServiceLog) {
        self.device = device
        self.commands = commands
        self.desk = desk
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
            for command in commands { group.addTask { await serve(command) } }
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

    private func serve(_ command: any SessionCommand) async -> Int32 {
        let name = command.name
        var hasTold = false
        while !Task.isCancelled {
            do throws(CallFailure) {
                try await device.answer(name, atOnce: command.atOnce, endsWithCaller: true) { call in
                    try await answer(call, command)
                }
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

    private func answer(_ call: HandlerCall, _ command: any SessionCommand) async throws -> HandlerCall.Answer {
        log.write("\(call.command): for \(call.caller["user"]?.stringValue ?? "somebody")", .info)
        do {
            return try await command.answer(call, device)
        } catch {
            log.write("\(call.command): \((error as? HandlerCall.Failure)?.message ?? "\(error)")", .info)
            throw error
        }
    }
}
