internal import Glibc

/// A sine wave.
struct Tone: Hashable {
    var hertz: Double
    /// Its peak, 0 to 1.
    var level: Float

    /// - Parameter first: the number of the first frame, counted from the beginning of the tone.
    func samples(_ count: Int, from first: Int = 0, rate: Int) -> [Float] {
        (first..<first + count).map { level * Float(sin(2 * .pi * hertz * Double($0) / Double(rate))) }
    }

    /// The level of this frequency in a sound, by Goertzel's algorithm: the level of a sine wave of that strength.
    func level(in sound: [Float], rate: Int) -> Double {
        let coefficient = 2 * cos(2 * .pi * hertz / Double(rate))
        var (last, beforeLast) = (0.0, 0.0)
        for sample in sound { (last, beforeLast) = (Double(sample) + coefficient * last - beforeLast, last) }
        let power = last * last + beforeLast * beforeLast - coefficient * last * beforeLast
        return sound.isEmpty ? 0 : 2 * max(0, power).squareRoot() / Double(sound.count)
    }
}
