import Concurrency
import JSON
import QuickConnect

/// `play [file, action, loops, {volume, from, wait}]`: starts a file of the media folder, or stops, pauses or resumes
/// it. Done when that can be heard or, with `wait`, when the file is over. The event `playState` reports what the file
/// does meanwhile.
struct PlayAudioVCO: WaitingVCO {
    let touchesDevice = true
    private let player: any FilePlayer
    private let permissions: Permissions

    init(_ player: any FilePlayer, _ permissions: Permissions) {
        self.player = player
        self.permissions = permissions
    }

    /// How long it may take until it can be heard. The timeout of the mapping is for calls that wait for the end.
    private static let patience = Duration.seconds(15)

    func show(_ call: borrowing Call) throws(CommandError) -> Awaited<ViewOutcome> {
        let file = call.string(0) ?? ""
        if let change = call.string(1).flatMap(PlayChange.init) {
            return Self.wait(for: player.change(file, change, mayEnd: permissions.mayEnd(call.caller)), of: file)
        }
        let options = try call.handedOn(or: PlayOptions.init)
        let started = player.start(file, options, for: call.caller)
        guard options.waits else { return Self.wait(for: started, of: file) }
        return .wait { () async throws(CommandError) in
            try await started.value()
            return .proceed
        }
    }

    private static func wait(for done: Promise<Void>, of file: String) -> Awaited<ViewOutcome> {
        .wait { () async throws(CommandError) in
            let end = ContinuousClock.now + patience
            do throws(CommandError) { try await done.value(before: end) } catch {
                guard error.code == .timeout, .now >= end else { throw error }
                throw CommandError(.timeout, "'\(file.shortened)' could not be heard within \(patience.words)")
            }
            return .proceed
        }
    }
}
