public import Foundation

/// Sound of 16 bits as it lies in files.
public struct PCM16: Sendable, Equatable {
    /// Interleaved.
    public var samples: [Int16]
    public var channels: Int
    public var rate: Int

    public init(samples: [Int16], channels: Int = 1, rate: Int = 48_000) {
        self.samples = samples
        self.channels = channels
        self.rate = rate
    }

    /// From raw bytes, as recorders and raw files have them.
    public init(data: Data, channels: Int, rate: Int = 48_000) {
        let bytes = [UInt8](data)
        let samples = stride(from: 0, to: bytes.count - 1, by: 2).map { index in
            Int16(bitPattern: UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8)
        }
        self.init(samples: samples, channels: channels, rate: rate)
    }

    /// From sound between -1 and 1.
    public init(_ sound: [Float], rate: Int = 48_000) {
        self.init(samples: sound.map { Int16(max(-32768, min(32767, ($0 * 32768).rounded()))) }, rate: rate)
    }

    public var frames: Int { samples.count / channels }

    /// The samples of one channel as they are.
    public func integers(of channel: Int) -> [Int16] {
        stride(from: channel, to: frames * channels, by: channels).map { samples[$0] }
    }

    /// One channel, -1 to 1.
    public func channel(_ channel: Int) -> [Float] { integers(of: channel).map { Float($0) / 32768 } }
}

extension PCM16 {
    /// What is wrong with a WAV file.
    public struct Malformed: Error, CustomStringConvertible {
        public let description: String
    }

    /// Reads a WAV file of 16 bits, and insists that its lengths are right.
    public init(wav data: Data) throws {
        let bytes = [UInt8](data)
        func number(_ at: Int, _ size: Int) -> Int {
            (0..<size).reduce(0) { $0 | Int(bytes[at + $1]) << (8 * $1) }
        }
        func text(_ at: Int) -> String { String(decoding: bytes[at..<(at + 4)], as: UTF8.self) }
        guard bytes.count >= 44, text(0) == "RIFF", text(8) == "WAVE", text(12) == "fmt ", text(36) == "data" else {
            throw Malformed(description: "no plain WAV file of \(bytes.count) bytes")
        }
        guard number(4, 4) == bytes.count - 8, number(40, 4) == bytes.count - 44 else {
            throw Malformed(description: "lengths \(number(4, 4)), \(number(40, 4)) in a file of \(bytes.count)")
        }
        guard number(34, 2) == 16 else { throw Malformed(description: "\(number(34, 2)) bits") }
        self.init(data: Data(bytes[44...]), channels: number(22, 2), rate: number(24, 4))
    }

    /// A WAV file.
    public var wav: Data {
        var data = Data("RIFF".utf8)
        func append(_ number: Int, _ size: Int) {
            for byte in 0..<size { data.append(UInt8(number >> (8 * byte) & 0xff)) }
        }
        append(36 + 2 * samples.count, 4)
        data.append(contentsOf: Data("WAVEfmt ".utf8))
        append(16, 4)
        append(1, 2)
        append(channels, 2)
        append(rate, 4)
        append(rate * channels * 2, 4)
        append(channels * 2, 2)
        append(16, 2)
        data.append(contentsOf: Data("data".utf8))
        append(2 * samples.count, 4)
        for sample in samples { append(Int(UInt16(bitPattern: sample)), 2) }
        return data
    }
}
