import Foundation
import JSON
import MediaFolder
import QuickConnect
import Synchronization
import TestRig
import Testing

@testable import ALSAAudio

/// A file player on a virtual card that keeps what it was given.
struct FilePlayerRig {
    let folder: TestFolder
    let sounds: ALSASoundPlayer
    let player: ALSAFilePlayer
    let log = LogRecord()

    /// - Parameter options: of the card, as `rig.c` explains them.
    init(_ options: String = "", patience: Duration = .seconds(2)) async throws {
        folder = try TestFolder()
        let out = "outfile \"\(folder("played.raw"))\" lock \"\(folder("lock"))\""
        let card = try await RigPlugin.addCard("\(out) \(options)")
        let output = ALSAOutput.named(card)
        let engine = PlaybackEngine(output, answer: .seconds(3), patience: patience, logger: log.logger)
        sounds = ALSASoundPlayer(engine: engine, sounds: SystemSounds([Signal.tone(440, seconds: 1)]))
        let media = MediaFolder(path: folder("media"))
        try media.make()
        player = ALSAFilePlayer(folder: media, mixedInto: sounds, logger: log.logger)
    }

    func put(_ sound: PCM16, as name: String) throws { try folder.write(sound.wav, to: "media/\(name)") }

    func start(_ file: String, _ options: PlayOptions = .init()) async -> Result<Void, CommandError> {
        await outcome(player.start(file, options, for: .daemon))
    }

    func change(_ file: String, _ change: PlayChange) async -> Result<Void, CommandError> {
        await outcome(player.change(file, change) { _ in true })
    }

    /// Waits until nothing plays or is paused any more, and the card is closed.
    func awaitEnd() async throws {
        try await eventually("it ends") {
            player.state()["playing"] == [] && CardLock.isFree(folder("lock"))
        }
    }

    var entry: JSONObject? { player.state()["playing"]?.arrayValue?.first?.objectValue }

    func heard(_ seconds: Double) async throws {
        try await eventually("\(seconds) s are heard") { (entry?["position"]?.numberValue ?? 0) >= seconds }
    }

    /// What the card was given on one channel, without the silence around it.
    func played(channel: Int = 0, channels: Int = 2) throws -> [Int16] {
        let samples = PCM16(data: try folder.data("played.raw"), channels: channels).integers(of: channel)
        let first = samples.firstIndex { $0 != 0 } ?? 0
        return Array(samples[first...(samples.lastIndex { $0 != 0 } ?? first)])
    }

    /// What the card was given on one channel, with all silence taken out.
    func playedWithoutSilence() throws -> [Int16] {
        PCM16(data: try folder.data("played.raw"), channels: 2).integers(of: 0).filter { $0 != 0 }
    }
}

/// A sound without a zero in it, which tells its own frames: 1, 2, … 30000, 1, …
func counting(_ frames: Int, channels: Int = 1, rate: Int = 48_000) -> PCM16 {
    let samples = (0..<frames).flatMap { frame -> [Int16] in
        let number = Int16(frame % 30_000 + 1)
        return channels == 1 ? [number] : [number, -number]
    }
    return PCM16(samples: samples, channels: channels, rate: rate)
}

extension SoundTests {
    @Suite(.enabled(if: RigPlugin.canBeBuilt, "the virtual card needs a C compiler"))
    struct FilePlayerTests {
        @Test(arguments: [1, 2])
        func `a file reaches the card sample for sample`(channels: Int) async throws {
            let rig = try await FilePlayerRig()
            let sound = counting(24_000, channels: channels)
            try rig.put(sound, as: "count.wav")
            #expect(await rig.start("count.wav").code == nil)
            try await rig.awaitEnd()
            #expect(try rig.played(channel: 0) == sound.integers(of: 0))
            #expect(try rig.played(channel: 1) == sound.integers(of: channels - 1))
            #expect(rig.log.complaints == [])
        }

        @Test(arguments: ["caf", "wav", "aiff", "flac", "ogg", "opus", "mp3"])
        func `each format is played`(ending: String) async throws {
            let rig = try await FilePlayerRig()
            let chirp = Signal.chirp(from: 300, to: 6000, seconds: 0.6)
            try SoundMaker.write(chirp, to: rig.folder("media/chirp.\(ending)"))
            #expect(await rig.start("chirp.\(ending)").code == nil)
            try await rig.awaitEnd()
            let played = try rig.played().map { Float($0) / 32_768 }
            let silence = [Float](repeating: 0, count: 100)
            #expect(Signal.find(chirp, in: silence + played + silence).correlation > 0.98)
        }

        @Test func `a file of another rate is converted, and lasts as long`() async throws {
            let rig = try await FilePlayerRig()
            try rig.put(PCM16(Signal.chirp(from: 300, to: 6000, seconds: 0.6, rate: 44_100), rate: 44_100), as: "a.wav")
            #expect(await rig.start("a.wav").code == nil)
            try await rig.awaitEnd()
            let played = try rig.played().map { Float($0) / 32_768 }
            #expect(abs(played.count - 28_800) < 100)
            let chirp = Signal.chirp(from: 300, to: 6000, seconds: 0.6)
            let silence = [Float](repeating: 0, count: 100)
            #expect(Signal.find(chirp, in: silence + played + silence).correlation > 0.99)
        }

        @Test func `loops play it again without a gap`() async throws {
            let rig = try await FilePlayerRig()
            let sound = counting(9000)
            try rig.put(sound, as: "count.wav")
            #expect(await rig.start("count.wav", .init(loops: 2)).code == nil)
            try await rig.awaitEnd()
            #expect(try rig.played() == sound.samples + sound.samples + sound.samples)
        }

        @Test func `a file can start anywhere, quieter, and for ever until it is stopped`() async throws {
            let rig = try await FilePlayerRig()
            try rig.put(counting(20_000), as: "count.wav")
            #expect(await rig.start("count.wav", .init(loops: nil, volume: 50, from: 0.25)).code == nil)
            try await eventually("it began again") { (rig.entry?["position"]?.numberValue ?? 1) < 0.2 }
            #expect(await rig.change("count.wav", .stop).code == nil)
            try await rig.awaitEnd()
            let played = try rig.played()
            #expect(played.first == 6001 && played.count > 9000)
            #expect(await rig.start("count.wav", .init(from: 5)).message.contains("below the file's 0.417"))
        }

        @Test func `a pause closes the card, and nothing is lost or heard twice`() async throws {
            let rig = try await FilePlayerRig()
            let sound = counting(40_000)
            try rig.put(sound, as: "count.wav")
            #expect(await rig.start("count.wav").code == nil)
            for _ in 0..<3 {
                let position = rig.entry?["position"]?.numberValue ?? 0
                try await rig.heard(position + 0.1)
                #expect(await rig.change("count.wav", .pause).code == nil)
                #expect(rig.entry?["state"] == "paused")
                try await eventually("the card is closed") { CardLock.isFree(rig.folder("lock")) }
                #expect(await rig.change("count.wav", .pause).code == nil)
                #expect(await rig.change("count.wav", .resume).code == nil)
                #expect(rig.entry?["state"] == "playing")
            }
            try await rig.awaitEnd()
            #expect(try rig.playedWithoutSilence() == sound.samples)
        }

        @Test func `pauses and resumes all at once end as the last one says`() async throws {
            let rig = try await FilePlayerRig()
            let sound = counting(30_000)
            try rig.put(sound, as: "count.wav")
            let promises = [rig.player.start("count.wav", .init(), for: .daemon)]
            let changes = (0..<20).map { index in
                rig.player.change("count.wav", index % 2 == 0 ? .pause : .resume) { _ in true }
            }
            for promise in promises + changes { #expect(await outcome(promise).code == nil) }
            try await rig.awaitEnd()
            #expect(try rig.playedWithoutSilence() == sound.samples)
        }

        @Test func `a stop ends a file at once in each of its states`() async throws {
            let rig = try await FilePlayerRig()
            try rig.put(counting(96_000), as: "count.wav")
            let start = rig.player.start("count.wav", .init(), for: .daemon)
            #expect(await rig.change("count.wav", .stop).code == nil)
            #expect(await outcome(start).code == .cancelled)
            #expect(await rig.start("count.wav").code == nil)
            #expect(await rig.change("count.wav", .stop).code == nil)
            #expect(await rig.start("count.wav").code == nil)
            #expect(await rig.change("count.wav", .pause).code == nil)
            #expect(await rig.change("count.wav", .stop).code == nil)
            try await rig.awaitEnd()
            for change in PlayChange.allCases { #expect(await rig.change("count.wav", change).code == .notFound) }
            try await eventually("the readers have ended") { ThreadList(named: "qc-file").count == 0 }
        }

        @Test func `a file plays once at a time, and belongs to who started it`() async throws {
            let rig = try await FilePlayerRig()
            try rig.put(counting(48_000), as: "count.wav")
            #expect(await rig.start("count.wav").code == nil)
            let again = await rig.start("count.wav")
            #expect(again.code == .busy && again.message.contains("'count.wav' plays already"))
            #expect(await outcome(rig.player.change("count.wav", .stop) { _ in false }).code == .denied)
            #expect(await rig.change("count.wav", .pause).code == nil)
            #expect(await rig.start("count.wav").message.contains("is paused"))
            rig.player.close()
            try await rig.awaitEnd()
        }

        @Test func `32 files play at once with a system sound, and one more is overloaded`() async throws {
            let rig = try await FilePlayerRig()
            for number in 0...32 {
                try rig.put(PCM16(samples: Array(repeating: 100, count: 9600)), as: "\(number).wav")
            }
            let sound = rig.sounds.play(sound: 0, for: .daemon)
            let starts = (0...32).map { rig.player.start("\($0).wav", .init(loops: nil), for: .daemon) }
            var codes: [CommandError.Code?] = []
            for start in starts { codes.append(await outcome(start).code) }
            #expect(codes == Array(repeating: nil, count: 32) + [.overloaded])
            #expect(await outcome(sound).code == nil)
            rig.player.close()
            try await rig.awaitEnd()
        }

        @Test func `what cannot be played says why`() async throws {
            let rig = try await FilePlayerRig()
            try rig.folder.write("no sound", to: "media/text.wav")
            try rig.folder.write("", to: "media/empty.wav")
            for name in ["text.wav", "empty.wav"] {
                let result = await rig.start(name)
                #expect(result.code == .unavailable && result.message.contains("'\(name)' cannot be played"))
            }
            #expect(await rig.start("missing.wav").code == .notFound)
            #expect(await rig.start("../missing.wav").code == .invalid)
        }

        @Test(arguments: [("openerr \(ENODEV)", CommandError.Code.unavailable), ("openerr \(EBUSY)", .busy)])
        func `a card that cannot be opened fails the start`(options: String, code: CommandError.Code) async throws {
            let rig = try await FilePlayerRig(options)
            try rig.put(counting(9600), as: "count.wav")
            #expect(await rig.start("count.wav").code == code)
            #expect(rig.player.state()["playing"] == [])
        }

        /// As a program writes it that never comes back to complete its header.
        @Test func `a file without sound is told, and not played in silence`() async throws {
            let rig = try await FilePlayerRig()
            var file = counting(8000).wav
            for place in 40..<44 { file[place] = 0 }
            try rig.folder.write(file, to: "media/header.wav")
            try rig.put(counting(0), as: "none.wav")
            for name in ["header.wav", "none.wav"] {
                let error = await rig.start(name, .init(loops: nil))
                #expect(error.code == .unavailable)
                #expect(error.message == "'\(name)' cannot be played: there is no sound in it")
            }
        }

        @Test(.measured) func `two hours of sound take no more memory than two seconds`() async throws {
            let folder = try TestFolder()
            // A sparse file: its header tells of two hours, and the disk holds a page.
            var header = PCM16(samples: [], rate: 8000).wav
            let bytes = 2 * 8000 * 7200
            for (place, value) in [(4, 36 + bytes), (40, bytes)] {
                for byte in 0..<4 { header[place + byte] = UInt8(value >> (8 * byte) & 0xff) }
            }
            try folder.write(header, to: "long.wav")
            truncate(folder("long.wav"), 44 + bytes)
            let file = try MediaFolder(path: folder.path).open(try MediaName("long.wav"))
            let decoder = try FileDecoder(file, loops: 0)
            let stream = FileStream(channels: 1, rate: 8000, gain: 1)
            var (chunk, heard) = ([Float](repeating: 0, count: 4096), [Float](repeating: 0, count: 4096))
            var (frames, before) = (0, 0)
            while !decoder.isAtEnd {
                let count = decoder.read(4096, into: &chunk)
                #expect(stream.append(chunk[..<count]))
                frames += stream.read(count, into: &heard)
                if frames == 4096 * 100 { before = residentBytes() }
            }
            #expect(frames == 8000 * 7200)
            #expect(residentBytes() - before < 2 << 20)
        }
    }
}

/// The memory of this process that is in use.
func residentBytes() -> Int {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    return (pages.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0) * 4096
}
