import JSON
import QuickConnect

/// Checks the level of `volume`: none, 0…100, `mute` or `unmute`.
struct VolumeValCO: CommandObject {
    let phase = Phase.validation

    func handle(_ call: borrowing Call) throws(CommandError) -> Outcome {
        guard let level = call[0] else { return .proceed }
        guard VolumeChange(level) != nil else {
            throw .invalid("/0", expected: "level, an integer from 0 to 100, or \"mute\", or \"unmute\"")
        }
        return .proceed
    }
}

extension VolumeChange {
    /// The change that a level stands for, nil where it is none.
    init?(_ level: JSONValue) {
        if let percent = level.integerValue, (0...100).contains(percent) {
            self = .percent(Int(percent))
        } else if level == "mute" || level == "unmute" {
            self = .muted(level == "mute")
        } else {
            return nil
        }
    }
}
