import Concurrency
import JSON
import QuickConnect

/// Checks the options of `play`: `{volume, from, wait}`, which are only allowed for a start.
struct PlayAudioValCO: ValCO {

    func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome {
        .handOn(try PlayOptions(call))
    }
}

extension PlayOptions {
    /// The parameters `[file, action, loops, options]`. −1 loops means forever.
    init(_ call: borrowing Call) throws(CommandError) {
        var options = try OptionReader(call, 3, known: ["volume", "from", "wait"])
        let loops = call.integer(2) ?? 0
        self.init(
            loops: loops < 0 ? nil : Int(clamping: loops),
            volume: options.number("volume", in: 0...100, "per cent") ?? 100,
            from: options.number("from", in: 0...1e9, "seconds") ?? 0,
            waits: options.boolean("wait") ?? false
        )
        try options.finish()
    }
}

/// `play [file, action, loops, {volume, from, wait}]`: starts a file of the media folder, or stops, pauses or resumes
/// it. Done when that can be heard or, with `wait`, when the file is over. The event `playState` reports what the file
/// does meanwhile.
struct PlayAudioVCO: WaitingVCO {
    let touchesDevice = true
    let player: any FilePlayer
    let permissions: Permissions

    /// How long it may take until it can be heard. The timeout of the mapping is for calls that wait for the end.
    private static let timeout = Duration.seconds(15)

    func show(_ call: borrowing Call) throws(CommandError) -> Awaited<ViewOutcome> {
        let file = call.string(0) ?? ""
        if let change = call.string(1).flatMap(PlayChange.init) {
            return Self.wait(for: player.change(file, change, mayEnd: permissions.mayEnd(call.caller)), of: file)
        }
        let options = try call.handedOn(or: PlayOptions.init)
        let started = player.start(file, options, for: call.caller)
        return options.waits ? .wait(for: started) { _ in .proceed } : Self.wait(for: started, of: file)
    }

    private static func wait(for done: Promise<Void>, of file: String) -> Awaited<ViewOutcome> {
        .wait(for: done, atMost: timeout, orElse: "'\(file.shortened)' could not be heard") { _ in .proceed }
    }
}

/// `playSound [sound]`: plays a system sound, by number or name, and is done when the sound is over; −1 vibrates.
///
/// A sound that has begun plays to its end, even if its caller is gone: only `stop` ends it.
struct PlaySoundVCO: WaitingVCO {
    let touchesDevice = true
    let player: any SoundPlayer
    let haptics: any Haptics

    /// The number that vibrates, as in the book.
    private static let vibration: Int64 = -1

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
            let expected = "sound, an integer of at least -1 or the name of a system sound, as 'sounds' lists them"
            throw .invalid("/0", expected: expected, got: call.gist(0))
        }
        guard number != Self.vibration else { return haptics.outcome(of: .single, for: call.caller) }
        return .wait(for: player.play(sound: index, for: call.caller)) { _ in .proceed }
    }
}

/// `sounds`: the system sounds, as `[{"number", "name", "seconds"}, …]`.
struct SoundsBCO: BCO {
    let player: any SoundPlayer

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

/// `volume [level?]`: sets the mixer of the PCM if a level is given, and returns `{"volume", "muted"}`.
struct VolumeBCO: WaitingBCO {
    let touchesDevice = true
    let control: any VolumeControl

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        .wait(for: control.volume(applying: call.handedOn() ?? VolumeChange(call))) { volume in
            .result(["volume": .integer(Int64(volume.percent)), "muted": .bool(volume.isMuted)])
        }
    }
}
