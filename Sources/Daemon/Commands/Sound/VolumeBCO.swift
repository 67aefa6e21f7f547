import Concurrency
import JSON
import QuickConnect

/// `volume [level?]`: sets the mixer of the PCM if a level is given, and returns `{"volume", "muted"}`.
struct VolumeBCO: WaitingBCO {
    let touchesDevice = true
    private let control: any VolumeControl

    init(_ control: any VolumeControl) { self.control = control }

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        let volume = control.volume(applying: call.handedOn() ?? VolumeChange(call))
        return .wait { () async throws(CommandError) in
            let volume = try await volume.value()
            return .result(["volume": .integer(Int64(volume.percent)), "muted": .bool(volume.isMuted)])
        }
    }
}
