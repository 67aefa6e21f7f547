import Concurrency
import JSON
import QuickConnect

/// `playSound [number]`: plays that system sound, and is done when the sound is over; −1 vibrates.
///
/// A sound that has begun plays to its end, also when its caller has gone: only `stop` ends it.
struct PlaySoundVCO: WaitingVCO {
    let touchesDevice = true
    private let player: any SoundPlayer
    private let haptics: any Haptics

    /// The number that vibrates, as the book has it.
    private static let vibration: Int64 = -1

    init(_ player: any SoundPlayer, _ haptics: any Haptics) {
        self.player = player
        self.haptics = haptics
    }

    func show(_ call: borrowing Call) throws(CommandError) -> Awaited<ViewOutcome> {
        guard let number = call.integer(0), let index = Int(exactly: number) else {
            throw .invalid("/0", expected: "sound, an integer of at least -1")
        }
        guard number != Self.vibration else { return haptics.outcome(of: .single, for: call.caller) }
        let sound = player.play(sound: index, for: call.caller)
        return .wait { () async throws(CommandError) in
            try await sound.value()
            return .proceed
        }
    }
}
