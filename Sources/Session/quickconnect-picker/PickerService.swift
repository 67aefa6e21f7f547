import JSON
import Linux
import QuickConnect
import QuickConnectClient

/// Answers the daemon's calls for all pickers, until it is stopped or cannot go on.
struct PickerService: Sendable {
    private let device: DeviceClient
    private let desk: DialogQueue
    private let log: ServiceLog
    /// How long to wait before trying again to register a name that another client has.
    private static let pause = Duration.seconds(5)

    init(_ device: DeviceClient, _ desk: DialogQueue, _ log: ServiceLog) {
        self.device = device
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
            group.addTask { await failWithoutDisplay() }
            for picker in Pickers.all { group.addTask { await serve(picker) } }
            let status = await group.next() ?? 0
            group.cancelAll()
            return status
        }
    }

    /// There is nothing more to do when the session is over.
    private func failWithoutDisplay() async -> Int32 {
        guard let reason = await desk.displayIsGone() else { return 0 }
        log.write(reason, .error)
        return 1
    }

    private func serve(_ picker: any Picker) async -> Int32 {
        var hasTold = false
        while !Task.isCancelled {
            do throws(CallFailure) {
                try await device.answer(picker.name, endsWithCaller: true) { call in try await answer(call, picker) }
                return 0
            } catch {
                guard error.code == CommandError.Code.busy.rawValue else {
                    log.write("the daemon refuses the handler \(picker.name): \(error.message)", .error)
                    return 1
                }
                if !hasTold { log.write("waits until \(picker.name) is free: \(error.message)", .warning) }
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
}

extension HandlerCall {
    /// What was sent, as parameters, in both forms of the protocol.
    fileprivate var parameters: [JSONValue] {
        switch data {
        case .null: []
        case .array(let items): items
        default: [data]
        }
    }
}
