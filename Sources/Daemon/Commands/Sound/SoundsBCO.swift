import JSON
import QuickConnect

/// `sounds`: the system sounds, as `[{"number", "name", "seconds"}, …]`.
struct SoundsBCO: BCO {
    private let player: any SoundPlayer

    init(_ player: any SoundPlayer) { self.player = player }

    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome {
        .result(
            .array(
                player.sounds.map {
                    [
                        "number": .integer(Int64($0.number)), "name": .string($0.name),
                        "seconds": .number($0.seconds),
                    ]
                }
            )
        )
    }
}
