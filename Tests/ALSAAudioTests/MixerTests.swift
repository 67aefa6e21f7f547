import TestRig
import Testing

@testable import ALSAAudio

@Suite struct MixerTests {
    /// A source that gives what it is told to, a few frames at a time.
    private struct Trickle: VoiceSource {
        var left: [Float]
        var channels = 1
        var rate = 48_000
        var isAtEnd: Bool { left.isEmpty }

        mutating func read(_ count: Int, into buffer: inout [Float]) -> Int {
            guard let first = left.first, count > 0 else { return 0 }
            left.removeFirst()
            buffer[0] = first
            return 1
        }
    }

    private func source(_ samples: [Float], channels: Int = 1) -> BufferSource {
        BufferSource(SoundBuffer(samples: samples, channels: channels, rate: 48_000))
    }

    @Test func `mono goes to every channel, stereo to the first two, and their mean to a single one`() {
        var stereo = Mixer(channels: 3, rate: 48_000)
        stereo.add(1, source([0.5]))
        let first = stereo.mix(1)
        stereo.add(2, source([0.25, 0.75], channels: 2))
        let second = stereo.mix(1)
        #expect(first == [0.5, 0.5, 0.5] && second == [0.25, 0.75, 0])
        var mono = Mixer(channels: 1, rate: 48_000)
        mono.add(1, source([0.25, 0.75], channels: 2))
        let third = mono.mix(2)
        #expect(third == [0.5, 0])
    }

    @Test func `voices add up from the frame at which they joined`() {
        var mixer = Mixer(channels: 1, rate: 48_000)
        mixer.add(1, source([0.1, 0.2, 0.3, 0.4]))
        let first = mixer.mix(2)
        mixer.add(2, source([0.5]))
        let second = mixer.mix(3)
        #expect(first == [0.1, 0.2] && second == [0.8, 0.4, 0])
        #expect(mixer.isExhausted && mixer.mixed == 5)
    }

    @Test func `a voice is finished when its last frame has been heard, not when it was mixed`() {
        var mixer = Mixer(channels: 1, rate: 48_000)
        mixer.add(1, source([1, 1, 1]))
        _ = mixer.mix(8)
        let early = mixer.removeFinished(played: 2)
        #expect(early.isEmpty && !mixer.isEmpty)
        let late = mixer.removeFinished(played: 3)
        #expect(late == [1] && mixer.isEmpty)
    }

    @Test func `positions count from each voice's own start, and stop at its end`() {
        var mixer = Mixer(channels: 1, rate: 48_000)
        mixer.add(1, source([1, 1, 1]))
        _ = mixer.mix(2)
        mixer.add(2, source([1, 1, 1, 1]))
        _ = mixer.mix(6)
        #expect(mixer.positions(played: 1) == [1: 1, 2: 0])
        #expect(mixer.positions(played: 5) == [1: 3, 2: 3])
        #expect(mixer.positions(played: 8) == [1: 3, 2: 4])
    }

    @Test func `voices that are not wanted any more are gone at once`() {
        var mixer = Mixer(channels: 1, rate: 48_000)
        mixer.add(1, source([1, 1]))
        mixer.add(2, source([0.5, 0.5]))
        mixer.keep { $0 == 2 }
        let mixed = mixer.mix(1)
        #expect(mixed == [0.5])
    }

    @Test func `a source that has nothing yet is not at its end`() {
        var mixer = Mixer(channels: 1, rate: 48_000)
        mixer.add(1, Trickle(left: [0.1, 0.2]))
        let first = mixer.mix(2)
        #expect(first == [0.1, 0] && !mixer.isExhausted)
        let second = mixer.mix(2)
        #expect(second == [0.2, 0] && mixer.isExhausted)
        let finished = mixer.removeFinished(played: 3)
        #expect(finished == [1])
    }

    @Test(arguments: [1, 2])
    func `a voice at another rate is converted as it is read`(channels: Int) {
        let tone = Signal.tone(1000, seconds: 0.5)
        let samples = tone.flatMap { [Float](repeating: $0, count: channels) }
        var mixer = Mixer(channels: 1, rate: 44_100)
        mixer.add(1, source(samples, channels: channels))
        var mixed: [Float] = []
        while !mixer.isExhausted, mixed.count < 100_000 { mixed += mixer.mix(441) }
        let last = mixed.lastIndex { abs($0) > 0.01 } ?? 0
        #expect(abs(last - 22_050) < 50)
        #expect(abs(Signal.peakFrequency(Array(mixed.prefix(22_050)), rate: 44_100) - 1000) < 3)
    }
}

@Suite struct SampleFormatTests {
    @Test func `samples that were 16 bits come out as the same 16 bits`() {
        let all = (Int16.min ... .max).map { $0 }
        let bytes = SampleFormat.int16.bytes(of: all.map { Float($0) / 32768 })
        #expect(bytes == all.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] })
    }

    @Test func `what is too loud saturates`() {
        #expect(SampleFormat.int16.bytes(of: [2, -2]) == [0xff, 0x7f, 0x00, 0x80])
        #expect(SampleFormat.int32.bytes(of: [2, -2]) == [0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0x80])
        #expect(SampleFormat.float.bytes(of: [2, -2]) == [0, 0, 0x80, 0x3f, 0, 0, 0x80, 0xbf])
    }
}
