import Concurrency
import JSON
import QuickConnect

/// `play [file, action, loops, {volume, from}]`: starts a file of the media folder, or stops, pauses or resumes it.
/// Done when that can be heard; what the file does later is told by the event `playState`.
struct PlayAudioVCO: WaitingVCO {
    let touchesDevice = true
    private let player: any FilePlayer
    private let permissions: Permissions

    init(_ player: any FilePlayer, _ permissions: Permissions) {
        self.player = player
        self.permissions = permissions
    }

    func show(_ call: borrowing Call) throws(CommandError) -> Awaited<ViewOutcome> {
        let file = call.string(0) ?? ""
        let done: Promise<Void>
        if let change = call.string(1).flatMap(PlayChange.init) {
            done = player.change(file, change, mayEnd: permissions.mayEnd(call.caller))
        } else {
            done = player.start(file, try call.handedOn(or: PlayOptions.init), for: call.caller)
        }
        return .wait { () async throws(CommandError) in
            try await done.value()
            return .proceed
        }
    }
}
