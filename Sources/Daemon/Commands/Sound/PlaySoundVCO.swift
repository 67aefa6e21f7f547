import Concurrency
import JSON
import QuickConnect

/// `playSound [sound]`: plays a system sound, by number or name, and is done when the sound is over; −1 vibrates.
///
/// A sound that has begun plays to its end, even if its caller is gone: only `stop` ends it.
struct PlaySoundVCO: WaitingVCO {
    let touchesDevice = true
    private let player: any SoundPlayer
    private let haptics: any Haptics

    /// The number that vibrates, as in the book.
    private static let vibration: Int64 = -1

    init(_ player: any SoundPlayer, _ haptics: any Haptics) {
        self.player = player
        self.haptics = haptics
    }

    /// - Parameter name: the name of its file, with or without its extension.
    private func number(ofName name: String?) -> Int64? {
        guard let name, !name.isEmpty else { return nil }
        let sounds = player.sounds
        let sound =
            sounds.first { $0.name.utf8.elementsEqual(name.utf8) }
            ?? sounds.first { $0.name.prefix { $0 != "." }.utf8.elementsEqual(name.utf8) }
        return sound.map { Int64($0.number) }
    }

    func show(_ call: borrowing Call) throws(CommandError) -> Awaited<ViewOutcome> {
        guard let number = call.integer(0) ?? number(ofName: call.string(0)), number >= Self.vibration,
            let index = Int(exactly: number)
        else {
            let expected = "sound, an integer of at least -1 or the name of a system sound"
            throw .invalid("/0", expected: expected, got: call.gist(0))
        }
        guard number != Self.vibration else { return haptics.outcome(of: .single, for: call.caller) }
        let sound = player.play(sound: index, for: call.caller)
        return .wait { () async throws(CommandError) in
            try await sound.value()
            return .proceed
        }
    }
}
