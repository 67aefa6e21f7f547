import Foundation
import QuickConnect
import TestRig
import Testing

@testable import ALSAAudio

@Suite struct SystemSoundsTests {
    let folder: TestFolder
    let log = LogRecord()

    init() throws { folder = try TestFolder() }

    private func load(rate: Int = 48_000) -> SystemSounds {
        SystemSounds.load(folder: folder.path, rate: rate, logger: log.logger)
    }

    private func write(_ name: String, seconds: Double = 0.1, rate: Int = 48_000) throws {
        try folder.write(PCM16(Signal.tone(1000, seconds: seconds, rate: rate), rate: rate).wav, to: name)
    }

    @Test func `laser is number 0, and the others follow in the order of the bytes of their names`() throws {
        for name in ["zebra.wav", "laser.wav", "alarm.wav", "Zoo.wav", "äpfel.wav"] { try write(name) }
        let list = load().list
        #expect(list.map(\.name) == ["laser.wav", "Zoo.wav", "alarm.wav", "zebra.wav", "äpfel.wav"])
        #expect(list.map(\.number) == [0, 1, 2, 3, 4])
        #expect(log.complaints.isEmpty)
    }

    @Test func `without a laser the others keep their numbers from 1`() throws {
        try write("beep.wav")
        try write("alarm.wav")
        #expect(load().list.map(\.number) == [1, 2])
    }

    @Test func `files that are no sounds are ignored without a word`() throws {
        try write("laser.wav")
        try folder.write("# Sounds", to: "README.md")
        try folder.write("#!/bin/sh\nexit 0", to: "generate")
        try folder.write("", to: "empty")
        try write(".hidden.wav")
        try FileManager.default.createDirectory(atPath: folder("folder.wav"), withIntermediateDirectories: false)
        #expect(load().list.map(\.name) == ["laser.wav"])
        #expect(log.complaints.isEmpty)
    }

    @Test func `sounds that cannot be read are logged and take no number`() throws {
        try folder.write("not a sound", to: "broken.wav")
        try folder.write("", to: "empty.ogg")
        try folder.write(PCM16(samples: []).wav, to: "nothing.wav")
        try write("laser.wav")
        try write("tone.wav")
        #expect(load().list.map(\.name) == ["laser.wav", "tone.wav"])
        #expect(log.complaints.count == 3)
        #expect(log.complaints.allSatisfy { $0.contains("left out") })
    }

    @Test func `a sound of 5 seconds is left out, a shorter one is not`() throws {
        try write("a.wav", seconds: 4.9999, rate: 8000)
        try write("b.wav", seconds: 5, rate: 8000)
        #expect(load().list.map(\.name) == ["a.wav"])
        #expect(log.complaints.count == 1)
        #expect(log.complaints.first?.contains("b.wav") == true && log.complaints.first?.contains("5 s") == true)
    }

    @Test func `a missing folder is one warning and no sounds`() {
        let sounds = SystemSounds.load(folder: folder("nowhere"), logger: log.logger)
        #expect(sounds.list.isEmpty)
        #expect(log.complaints.count == 1)
    }

    @Test func `16-bit samples are kept exactly`() throws {
        let samples = PCM16(Signal.chirp(from: 300, to: 6000, seconds: 0.1)).samples + [32767, -32768, 1, -1, 0]
        try folder.write(PCM16(samples: samples).wav, to: "laser.wav")
        let buffer = try #require(load().sounds.first?.buffer)
        #expect(PCM16(data: Data(SampleFormat.int16.bytes(of: buffer.samples)), channels: 1).samples == samples)
    }

    @Test(arguments: [8000, 22_050, 44_100, 96_000])
    func `a sound at another rate is converted, and keeps pitch and length`(rate: Int) throws {
        try write("laser.wav", seconds: 0.5, rate: rate)
        let sound = try #require(load().sounds.first)
        #expect(sound.buffer.rate == 48_000)
        #expect(abs(sound.buffer.frames - 24_000) <= 2)
        #expect(sound.seconds == 0.5)
        #expect(abs(Signal.peakFrequency(sound.buffer.samples) - 1000) < 3)
    }

    @Test func `stereo stays stereo, and more channels become one`() throws {
        let stereo = PCM16(samples: [100, -200, 300, -400], channels: 2)
        let four = PCM16(samples: [400, 800, 1200, 1600], channels: 4)
        try folder.write(stereo.wav, to: "a.wav")
        try folder.write(four.wav, to: "b.wav")
        let buffers = load().sounds.map(\.buffer)
        #expect(buffers.map(\.channels) == [2, 1])
        #expect(buffers.map { $0.samples.map { $0 * 32768 } } == [[100, -200, 300, -400], [1000]])
    }

    @Test(arguments: ["flac", "ogg", "opus", "aiff", "caf", "au"])
    func `sounds may have any format that libsndfile reads`(ending: String) throws {
        try SoundMaker.write(Signal.tone(1000, seconds: 0.3), to: folder("laser.\(ending)"))
        let sound = try #require(load().sounds.first)
        #expect(abs(sound.seconds - 0.3) < 0.001)
        #expect(abs(Signal.peakFrequency(sound.buffer.samples) - 1000) < 5)
    }

    @Test func `names that look alike are two sounds, in the order of their bytes`() throws {
        let names = ["ne\u{301}.wav", "n\u{e9}.wav"]
        for name in names { try write(name, seconds: 0.1) }
        #expect(load().list.map { Array($0.name.utf8) } == names.map { Array($0.utf8) })
    }
}
