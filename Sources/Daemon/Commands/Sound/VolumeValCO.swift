import JSON
import QuickConnect

/// Checks the level of `volume`: none, 0…100, `mute` or `unmute`.
struct VolumeValCO: ValCO {

    func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome {
        if call.argument(0).isNull { return .accept }
        guard let change = VolumeChange(call) else {
            let expected = "level, an integer from 0 to 100, or \"mute\", or \"unmute\""
            throw .invalid("/0", expected: expected, got: call.gist(0))
        }
        return .handOn(change)
    }
}

extension VolumeChange {
    /// The change for a level; nil if there is none.
    init?(_ call: borrowing Call) {
        let word = call.string(0)
        if let percent = call.integer(0), (0...100).contains(percent) {
            self = .percent(Int(percent))
        } else if word == "mute" || word == "unmute" {
            self = .muted(word == "mute")
        } else {
            return nil
        }
    }
}
