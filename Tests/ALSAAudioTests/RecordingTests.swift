import Foundation
import JSON
import MediaFolder
import QuickConnect
import TestRig
import Testing

@testable import ALSAAudio

/// A recorder on a virtual card that counts its frames: each sample of frame n is n % 30000.
struct RecorderRig {
    let folder: TestFolder
    let recorder: ALSARecorder
    let log = LogRecord()

    /// - Parameter options: of the card, as `rig.c` explains them.
    init(
        _ options: String = "",
        settings: ALSARecorder.Settings = .init(reserve: 0),
        patience: Duration = .seconds(2),
        threadName: String = "qc-mic"
    ) async throws {
        folder = try TestFolder()
        let card = try await RigPlugin.addCard("\(options) lock \"\(folder("lock"))\"")
        let engine = CaptureEngine(
            .named(card),
            answer: .seconds(3),
            patience: patience,
            threadName: threadName,
            logger: log.logger
        )
        let media = MediaFolder(path: folder("media"))
        recorder = ALSARecorder(engine: engine, folder: media, settings: settings, logger: log.logger)
    }

    func start(_ file: String, _ options: RecordingOptions = .init()) async -> Result<Void, CommandError> {
        await outcome(recorder.start(file, options, for: .daemon))
    }

    func stop(_ file: String) async -> Result<Recording, CommandError> {
        await outcome(recorder.stop(file) { _ in true })
    }

    /// The frames of a recording as numbers.
    func integers(_ file: String, channel: Int = 0) throws -> [Int16] {
        try PCM16(wav: try folder.data("media/\(file)")).integers(of: channel)
    }

    var files: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder("media"))) ?? []).sorted()
    }

    func awaitRecorded(_ seconds: Double) async throws {
        try await eventually("\(seconds) s are recorded") { recorded >= seconds }
    }

    private var recorded: Double {
        let entry = recorder.state()["recording"]?.arrayValue?.first?.objectValue
        return entry?["seconds"]?.numberValue ?? 0
    }

    /// Waits until nothing is recorded any more.
    func awaitEnd() async throws {
        try await eventually("it ends") { recorder.state()["recording"] == [] }
    }
}

/// How often a count of frames does not go on by one.
func gaps(_ frames: [Int16]) -> Int {
    zip(frames, frames.dropFirst()).filter { (Int($0) + 1) % 30_000 != Int($1) }.count
}

extension SoundTests {
    /// Recordings that go well.
    @Suite(.enabled(if: RigPlugin.canBeBuilt, "the virtual card needs a C compiler"))
    struct RecordingTests {
        @Test func `a recording holds every frame from its first to its last`() async throws {
            let rig = try await RecorderRig()
            #expect(await rig.start("take.wav").code == nil)
            try await rig.awaitRecorded(1)
            let recording = try await rig.stop("take.wav").get()
            let frames = try rig.integers("take.wav")
            #expect(frames.first == 0 && gaps(frames) == 0 && frames.count >= 48_000)
            #expect(recording.seconds == (Double(frames.count) / 48_000).inMilliseconds)
            #expect(recording.file == "take.wav" && recording.path == rig.folder("media/take.wav"))
            #expect(recording.format == "wav" && recording.rate == 48_000 && recording.channels == 1)
            #expect(recording.bytes == rig.folder.size("media/take.wav"))
            #expect(recording.peak == Double(frames.map(Int.init).max() ?? 0) / 32_768 || recording.peak > 0.9)
            #expect(rig.files == ["take.wav"] && rig.log.complaints == [])
        }

        @Test(arguments: [("caf", "caf"), ("flac", "flac"), ("ogg", "opus"), ("opus", "opus")])
        func `each format can be read again`(ending: String, format: String) async throws {
            let rig = try await RecorderRig()
            let name = "take.\(ending)"
            #expect(await rig.start(name, .init(limit: 1)).code == nil)
            try await rig.awaitEnd()
            #expect(try await rig.stop(name).get().format == format)
            let file = try SoundFile(path: rig.folder("media/\(name)"))
            #expect(file.format == format && file.frames == 48_000 && file.channels == 1)
            guard format != "opus" else { return }
            let samples = try file.read(atMost: 100_000).samples.map { Int16($0 * 32_768) }
            #expect(samples.first == 0 && gaps(samples) == 0)
        }

        @Test(arguments: ["format S16_LE", "format S32_LE", "format FLOAT_LE"], [1, 2])
        func `every card's samples come through as they are`(format: String, channels: Int) async throws {
            let rig = try await RecorderRig("\(format) channels \(channels)")
            #expect(await rig.start("take.wav", .init(channels: 2, limit: 0.3)).code == nil)
            try await rig.awaitEnd()
            for channel in 0...1 {
                let frames = try rig.integers("take.wav", channel: channel)
                #expect(frames.count == 14_400 && frames.first == 0 && gaps(frames) == 0)
            }
        }

        @Test(arguments: [8000, 16_000, 44_100, 96_000])
        func `a card of another rate is converted`(rate: Int) async throws {
            let rig = try await RecorderRig("rate 44100")
            #expect(await rig.start("take.wav", .init(rate: rate, limit: 0.5)).code == nil)
            try await rig.awaitEnd()
            let file = try SoundFile(path: rig.folder("media/take.wav"))
            #expect(file.rate == rate && file.frames == rate / 2)
        }

        @Test func `a limit ends a recording to the frame, and whoever asks later is told once`() async throws {
            let rig = try await RecorderRig(settings: .init(limit: 0.25, reserve: 0))
            #expect(await rig.start("take.wav").code == nil)
            try await rig.awaitEnd()
            let recording = try await rig.stop("take.wav").get()
            #expect(recording.ending == .limit && recording.seconds == 0.25)
            #expect(try rig.integers("take.wav").count == 12_000)
            #expect(await rig.stop("take.wav").code == .notFound)
        }

        @Test func `gain makes it louder, and full scale is the end`() async throws {
            let rig = try await RecorderRig()
            #expect(await rig.start("take.wav", .init(limit: 0.8, gain: 6.0206)).code == nil)
            try await rig.awaitEnd()
            let frames = try rig.integers("take.wav")
            #expect(abs(Int(frames[1000]) - 2000) <= 1 && frames.max() == 32_767)
            #expect(try await rig.stop("take.wav").get().peak > 0.9999)
        }

        @Test func `digital silence has peak 0, and is no error`() async throws {
            let rig = try await RecorderRig("silent 1")
            #expect(await rig.start("take.wav", .init(limit: 0.2)).code == nil)
            try await rig.awaitEnd()
            let recording = try await rig.stop("take.wav").get()
            #expect(recording.peak == 0 && recording.ending == .limit)
        }

        @Test func `several recordings share a card that can be opened once`() async throws {
            let rig = try await RecorderRig()
            #expect(await rig.start("one.wav").code == nil)
            #expect(await rig.start("two.wav", .init(channels: 2)).code == nil)
            try await rig.awaitRecorded(0.5)
            for file in ["one.wav", "two.wav"] {
                #expect(await rig.stop(file).code == nil)
                #expect(gaps(try rig.integers(file)) == 0)
            }
            try await eventually("the card is closed") { CardLock.isFree(rig.folder("lock")) }
        }

        @Test func `names that look alike are two files, recorded at once`() async throws {
            let rig = try await RecorderRig()
            let names = ["n\u{e9}.wav", "ne\u{301}.wav"]
            for name in names { #expect(await rig.start(name).code == nil) }
            for name in names { #expect(await rig.stop(name).code == nil) }
            #expect(Set(rig.files.map { Array($0.utf8) }) == Set(names.map { Array($0.utf8) }))
        }

        /// Whoever is asked may ask back: nothing is locked meanwhile.
        @Test(.timeLimit(.minutes(5)))
        func `who decides whether a recording may end can ask the recorder`() async throws {
            let rig = try await RecorderRig(settings: .init(limit: 0.1, reserve: 0))
            let recorder = rig.recorder
            let mayEnd: @Sendable (Caller) -> Bool = { _ in !recorder.state().isEmpty }
            #expect(await rig.start("take.wav", .init(limit: 60)).code == nil)
            #expect(await outcome(recorder.stop("take.wav", mayEnd: mayEnd)).code == nil)
            #expect(await rig.start("take.wav").code == nil)
            try await rig.awaitEnd()
            #expect(await outcome(recorder.stop("take.wav", mayEnd: mayEnd)).code == nil)
        }

        @Test func `an older file stays until the new one is whole`() async throws {
            let rig = try await RecorderRig()
            try FileManager.default.createDirectory(atPath: rig.folder("media"), withIntermediateDirectories: true)
            try Data("old".utf8).write(to: URL(fileURLWithPath: rig.folder("media/take.wav")))
            #expect(await rig.start("take.wav").code == nil)
            try await rig.awaitRecorded(0.2)
            #expect(try rig.folder.data("media/take.wav") == Data("old".utf8))
            #expect(await rig.stop("take.wav").code == nil)
            #expect(try rig.integers("take.wav").count > 9000)
        }

        @Test func `closing the recorder makes files whole, and takes no more`() async throws {
            let rig = try await RecorderRig()
            #expect(await rig.start("take.wav").code == nil)
            try await rig.awaitRecorded(0.2)
            await rig.recorder.close()
            #expect(gaps(try rig.integers("take.wav")) == 0)
            #expect(await rig.start("more.wav").code == .cancelled)
            #expect(rig.files == ["take.wav"])
        }

        @Test func `an idle recorder holds no card`() async throws {
            let rig = try await RecorderRig()
            #expect(await rig.start("take.wav", .init(limit: 0.1)).code == nil)
            try await rig.awaitEnd()
            try await eventually("the card is closed") { CardLock.isFree(rig.folder("lock")) }
            #expect(openFiles(under: rig.folder.path).isEmpty)
        }

        @Test(.measured) func `the threads of an idle recorder sleep`() async throws {
            let rig = try await RecorderRig(threadName: "qc-mic-i")
            #expect(await rig.start("take.wav", .init(limit: 0.1)).code == nil)
            try await rig.awaitEnd()
            let threads = [ThreadList(named: "qc-mic-i"), ThreadList(named: "qc-mic-i-watch")]
            // The watching thread wakes once more, after the deadline, to see that there is nothing left to watch; then it sleeps.
            try await Task.sleep(for: .seconds(3.5))
            let before = threads.map(\.switches)
            // Sleeps while they should.
            try await Task.sleep(for: .seconds(1))
            #expect(threads.map(\.switches) == before && threads.map(\.count) == [1, 1])
        }

        @Test(.measured) func `two hours of sound are recorded in no more memory than two seconds`() async throws {
            let folder = try TestFolder()
            let file = try MediaFolder(path: folder.path).create(try MediaName("long.flac"))
            let writer = try SoundFileWriter(file.file, .flac, rate: 8000, channels: 1)
            let tap = CaptureTap(rate: 8000, channels: 1)
            let format = StreamFormat(sample: .int16, channels: 1, rate: 8000, period: 160, buffer: 4000)
            tap.begin(format)
            var source = TapSource(tap, format, channels: 1)
            let second = Signal.tone(440, seconds: 1, rate: 8000)
            var (buffer, before) = ([Float](repeating: 0, count: 8000), 0)
            for number in 0..<7200 {
                tap.append(second)
                #expect(source.read(8000, into: &buffer) == 8000)
                try writer.write(PCM16(buffer).samples)
                if number == 100 { before = residentBytes() }
            }
            #expect(residentBytes() - before < 2 << 20)
            try writer.close()
            try file.publish()
            #expect(try SoundFile(path: folder("long.flac")).duration == 7200)
        }

        @Test func `what a slow writer misses is counted, and nobody waits`() {
            let tap = CaptureTap(rate: 1000, channels: 1)
            tap.begin(StreamFormat(sample: .int16, channels: 1, rate: 1000, period: 20, buffer: 500))
            for _ in 0..<10 { tap.append([Float](repeating: 0.5, count: 1000)) }
            #expect(tap.lostSeconds == 2)
            tap.end(.stopped)
            tap.append([1])
            #expect(tap.all().samples.count == 8000 && tap.next() == nil)
        }

        @Test func `100 recordings leave no descriptors, no threads and no hidden files`() async throws {
            let rig = try await RecorderRig()
            for _ in 0..<100 {
                #expect(await rig.start("take.caf").code == nil)
                #expect(await rig.stop("take.caf").code == nil)
            }
            #expect(rig.files == ["take.caf"])
            try await eventually("the writers have ended") { ThreadList(named: "qc-record").count == 0 }
            try await eventually("all is closed") { openFiles(under: rig.folder.path).isEmpty }
        }
    }

    /// Recordings that cannot be made, or go wrong.
    @Suite(.enabled(if: RigPlugin.canBeBuilt, "the virtual card needs a C compiler"))
    struct RecordingFailureTests {
        private func once(_ fault: String) async throws -> RecorderRig {
            let folder = try TestFolder()
            return try await RecorderRig("fault \(fault) at 12000 once \"\(folder("once"))\"")
        }

        @Test(arguments: ["xrun", "suspend", "suspend-hard"])
        func `a recording goes on after the card was recovered, with one log line`(fault: String) async throws {
            let rig = try await once(fault)
            #expect(await rig.start("take.wav").code == nil)
            try await rig.awaitRecorded(0.8)
            #expect(try await rig.stop("take.wav").get().ending == nil)
            let frames = try rig.integers("take.wav")
            #expect(gaps(frames) <= 1 && frames.count > 30_000)
            #expect(rig.log.complaints.count == 1)
        }

        @Test(arguments: ["disconnect", "broken", "freeze"])
        func `a card that goes away ends the recording, whose file is whole`(fault: String) async throws {
            let rig = try await RecorderRig("fault \(fault) at 12000", patience: .seconds(3))
            #expect(await rig.start("take.wav").code == nil)
            try await rig.awaitEnd()
            let recording = try await rig.stop("take.wav").get()
            guard case .failure(let error) = recording.ending else { throw NotInTime(description: "no failure") }
            #expect(error.code == .unavailable)
            let frames = try rig.integers("take.wav")
            // How many frames were read before the card went away is the scheduler's choice.
            #expect(gaps(frames) == 0 && !frames.isEmpty && frames.count <= 12_960, "\(frames.count) frames")
            #expect(rig.files == ["take.wav"])
        }

        @Test(arguments: [(EACCES, "group audio"), (ENODEV, "unplugged")])
        func `a card that cannot be opened is unavailable, and leaves nothing`(code: Int32, hint: String) async throws {
            let rig = try await RecorderRig("openerr \(code)")
            let result = await rig.start("take.wav")
            #expect(result.code == .unavailable && result.message.contains(hint))
            #expect(rig.files == [])
            #expect(await rig.stop("take.wav").code == .notFound)
        }

        @Test func `a card that another program holds is busy until it is let go`() async throws {
            let rig = try await RecorderRig()
            var holder = CardLock.Holder(rig.folder("lock"))
            #expect(holder != nil)
            #expect(await rig.start("take.wav").code == .busy)
            holder = nil
            #expect(await rig.start("take.wav").code == nil)
            #expect(await rig.stop("take.wav").code == nil)
        }

        @Test func `a file is recorded once at a time, and by nobody else's word ended`() async throws {
            let rig = try await RecorderRig()
            #expect(await rig.start("take.wav").code == nil)
            let again = await rig.start("take.wav")
            #expect(again.code == .busy && again.message.contains("'take.wav'"))
            #expect(await outcome(rig.recorder.stop("take.wav") { _ in false }).code == .denied)
            #expect(await rig.stop("take.wav").code == nil)
        }

        @Test(
            arguments: [
                ("take.mp3", RecordingOptions(), "/0"), ("take.vorbis", RecordingOptions(), "/0"),
                ("../take.wav", RecordingOptions(), "/0"), ("/tmp/take.wav", RecordingOptions(), "/0"),
                ("take.opus", RecordingOptions(rate: 44_100), "/2/rate"),
                ("take.wav", RecordingOptions(rate: 192_000, channels: 2, limit: 7200), "/2/limit"),
            ]
        )
        func `what cannot be made is invalid`(file: String, options: RecordingOptions, field: String) async throws {
            let rig = try await RecorderRig()
            guard case .failure(let error) = await rig.start(file, options) else {
                throw NotInTime(description: "it was made")
            }
            #expect(error.code == .invalid)
            #expect(error.details["fields"]?.arrayValue?.first?.objectValue?["field"] == .string(field))
            #expect(rig.files == [])
        }

        @Test func `a folder that is not there is notFound`() async throws {
            #expect(await (try await RecorderRig()).start("trip/take.wav").code == .notFound)
        }

        @Test func `nothing is recorded where the reserve is not free`() async throws {
            let rig = try await RecorderRig(settings: .init(reserve: 1 << 60))
            let result = await rig.start("take.wav")
            #expect(result.code == .unavailable && result.message.contains("the disk is full"))
            #expect(rig.files == [])
        }

        @Test(.enabled(if: geteuid() == 0, "only root may mount a small disk"))
        func `a full disk ends the recording, which keeps what it has`() async throws {
            for reserve in [0, 400_000] {
                let rig = try await RecorderRig(settings: .init(reserve: reserve))
                try FileManager.default.createDirectory(atPath: rig.folder("media"), withIntermediateDirectories: true)
                let options = ["-t", "tmpfs", "-o", "size=1m", "none", rig.folder("media")]
                guard try await ChildProcess.run("mount", options).exit == .status(0) else {
                    return try skipRest("a tmpfs cannot be mounted here")
                }
                defer { umount2(rig.folder("media"), Int32(MNT_DETACH)) }
                #expect(await rig.start("take.wav", .init(rate: 96_000, channels: 2)).code == nil)
                try await rig.awaitEnd()
                let recording = try await rig.stop("take.wav").get()
                guard case .failure(let error) = recording.ending else { throw NotInTime(description: "no failure") }
                #expect(error.code == .unavailable)
                let frames = try rig.integers("take.wav")
                #expect(gaps(frames) == 0 && frames.count > 50_000 && rig.files == ["take.wav"])
            }
        }
    }
}
