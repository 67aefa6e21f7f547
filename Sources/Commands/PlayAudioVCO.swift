import Concurrency
import JSON
import QuickConnect

/// `play [file, action, loops, {volume, from}]`: starts a file of the media folder, or stops, pauses or resumes it.
/// Done when that can be heard; what the file does later is told by the event `playState`.
struct PlayAudioVCO: CommandObject {
    let phase = Phase.view
    let waits = true
    let touchesDevice = true
    private let player: any FilePlayer

    init(_ player: any FilePlayer) { self.player = player }

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        let file = call[0]?.stringValue ?? ""
        let done: Promise<Void>
        if let change = call[1]?.stringValue.flatMap(PlayChange.init) {
            done = player.change(file, change, mayEnd: call.session.frontController.mayEnd(call.caller))
        } else {
            done = player.start(file, try PlayOptions(call), for: call.caller)
        }
        return .wait { () async throws(CommandError) in
            try await done.value()
            return .proceed
        }
    }
}
