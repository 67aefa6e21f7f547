internal import Concurrency
package import JSON
package import Logging
package import QuickConnect

/// Plays the system sounds through ALSA.
///
/// Several sounds at once are mixed. The PCM is open only while something plays, so that other programs can use it at
/// other times, and the next sound finds a card or server that was gone.
package final class ALSASoundPlayer: SoundPlayer {
    package let sounds: [SystemSound]
    private let loaded: [Int: SystemSounds.Sound]
    let engine: PlaybackEngine

    /// - Parameters:
    ///   - output: the output, opened with the first sound.
    ///   - answer: how long the sound system may take for one step, such as opening the PCM, before the sounds that
    ///     wait for it get `timeout`.
    ///   - patience: how long an open PCM may play nothing before its sounds get `unavailable`.
    ///   - logger: gets one line for each failure.
    package convenience init(
        output: ALSAOutput,
        sounds: SystemSounds,
        answer: Duration = .seconds(3),
        patience: Duration = .seconds(2),
        logger: Logger
    ) {
        let engine = PlaybackEngine(output, answer: answer, patience: patience, logger: logger)
        self.init(engine: engine, sounds: sounds)
    }

    init(engine: PlaybackEngine, sounds: SystemSounds) {
        self.engine = engine
        self.sounds = sounds.list
        loaded = Dictionary(uniqueKeysWithValues: sounds.sounds.map { ($0.number, $0) })
    }

    /// In addition to the errors of ``SoundPlayer/play(sound:for:)``: `overloaded` when 256 sounds are already playing.
    package func play(sound number: Int, for caller: Caller) -> Promise<Void> {
        guard let sound = loaded[number] else {
            return .attempt { _ throws(CommandError) in throw CommandError(.notFound, missing(number)) }
        }
        let description = ["sound": .integer(Int64(number)), "name": .string(sound.name)] as JSONObject
        return engine.play(
            VoiceRequest(
                source: BufferSource(sound.buffer),
                description: description,
                seconds: sound.seconds,
                caller: caller
            )
        )
    }

    /// `"playing"`: for each sound `{"sound", "name", "seconds", "position", "for"}`, times in seconds.
    package func state() -> JSONObject { ["playing": engine.json] }

    package func stop(mayEnd: @Sendable (Caller) -> Bool) { engine.stop(mayEnd: mayEnd) }

    /// Ends all sounds with `cancelled` and closes the PCM, so that a file it writes is complete. Later sounds get
    /// `cancelled` too. Takes no longer than the answer time, even if the sound system is blocked.
    package func close() async { await engine.close() }

    private func missing(_ number: Int) -> String {
        switch sounds.last?.number {
        case nil: "there is no system sound \(number): no system sounds are installed"
        case _ where number == 0: "there is no system sound 0: laser.wav is missing in the sounds folder"
        case let last?: "there is no system sound \(number): they go up to \(last); 'sounds' lists them"
        }
    }
}
