import Foundation
import JSON
import Logging
import QuickConnect
import Synchronization
import TestRig

@testable import ALSAAudio

/// Collects log lines.
final class LogRecord: LogHandler, Sendable {
    private let entries = Mutex<[(level: Logger.Level, text: String)]>([])

    var logger: Logger { Logger(label: "test") { _ in self } }

    /// The lines of warnings and errors.
    var complaints: [String] { entries.withLock { $0.filter { $0.level >= .warning }.map(\.text) } }

    /// All lines.
    var lines: [String] { entries.withLock { $0.map(\.text) } }

    func log(event: LogEvent) {
        entries.withLock { $0.append((event.level, "\(event.message)")) }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set { _ = newValue }
    }

    var metadata: Logger.Metadata {
        get { [:] }
        set { _ = newValue }
    }

    var logLevel: Logger.Level {
        get { .trace }
        set { _ = newValue }
    }
}

extension SystemSounds {
    /// Sounds made by a test, numbered from 0 and called `0.wav`, `1.wav` and so on.
    init(_ sounds: [[Float]], rate: Int = 48_000) {
        self.init(
            sounds: sounds.enumerated().map { number, samples in
                let buffer = SoundBuffer(samples: samples, channels: 1, rate: rate)
                return Sound(number: number, name: "\(number).wav", buffer: buffer, seconds: buffer.seconds)
            }
        )
    }
}

/// A player, what it logs, and what it was made from.
struct Rig {
    let player: ALSASoundPlayer
    let log: LogRecord

    init(
        _ output: ALSAOutput,
        _ sounds: [[Float]],
        answer: Duration = .seconds(3),
        patience: Duration = .seconds(2),
        threadName: String = "qc-rig"
    ) {
        log = LogRecord()
        let engine = PlaybackEngine(
            output,
            answer: answer,
            patience: patience,
            threadName: threadName,
            logger: log.logger
        )
        player = ALSASoundPlayer(engine: engine, sounds: SystemSounds(sounds))
    }

    /// Waits until the oldest sound that plays has been heard for that long.
    func heard(seconds: Double) async throws {
        try await eventually("\(seconds) s are heard") {
            let entry = player.state()["playing"]?.arrayValue?.first?.objectValue
            return (entry?["position"]?.numberValue ?? 0) >= seconds
        }
    }

    /// Plays a sound to its end, or to its failure.
    func play(_ number: Int) async -> Result<Void, CommandError> {
        await outcome(player.play(sound: number, for: .daemon))
    }
}

/// A sound that survives 16 bits unchanged: what is compared exactly must be made of whole steps.
func quantised(_ sound: [Float]) -> [Float] { PCM16(sound).channel(0) }
