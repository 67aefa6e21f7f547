import Foundation

/// Sounds for tests, and what can be found out about a sound. All between -1 and 1.
public enum Signal {
    /// A sine.
    public static func tone(_ hertz: Double, seconds: Double, rate: Int = 48_000, level: Float = 0.4) -> [Float] {
        (0..<Int(seconds * Double(rate))).map { frame in
            level * Float(sin(2 * .pi * hertz * Double(frame) / Double(rate)))
        }
    }

    /// A sweep, which is like itself at one place only: good to be found again.
    public static func chirp(
        from low: Double,
        to high: Double,
        seconds: Double,
        rate: Int = 48_000,
        level: Float = 0.4
    ) -> [Float] {
        (0..<Int(seconds * Double(rate))).map { frame in
            let time = Double(frame) / Double(rate)
            return level * Float(sin(2 * .pi * (low + (high - low) * time / (2 * seconds)) * time))
        }
    }

    /// The frequency with the most power.
    public static func peakFrequency(_ sound: [Float], rate: Int = 48_000) -> Double {
        var spectrum = Spectrum(sound, size: Spectrum.size(for: sound.count))
        spectrum.transform()
        let half = spectrum.size / 2
        let peak = (1..<half).max { spectrum.power($0) < spectrum.power($1) } ?? 0
        return Double(peak) * Double(rate) / Double(spectrum.size)
    }

    /// Where a sound is in a recording.
    /// - Returns: the frame at which it starts, and how alike both are there: 1 is the same but for loudness.
    public static func find(_ sound: [Float], in recording: [Float]) -> (start: Int, correlation: Float) {
        let size = Spectrum.size(for: recording.count + sound.count)
        var product = Spectrum(recording, size: size)
        var other = Spectrum(sound, size: size)
        product.transform()
        other.transform()
        product.multiply(byConjugateOf: other)
        product.transformBack()
        let last = max(0, recording.count - sound.count)
        let start = (0...last).max { product.real[$0] < product.real[$1] } ?? 0
        return (start, correlation(sound, Array(recording[start...].prefix(sound.count))))
    }

    /// How alike two sounds are, frame by frame: 1 is the same but for loudness, 0 nothing in common.
    public static func correlation(_ one: [Float], _ other: [Float]) -> Float {
        let product = zip(one, other).reduce(Float(0)) { $0 + $1.0 * $1.1 }
        let energy = energy(one) * energy(other)
        return energy > 0 ? product / energy.squareRoot() : 0
    }

    private static func energy(_ sound: [Float]) -> Float { sound.reduce(0) { $0 + $1 * $1 } }
}

/// A Fourier transform of a power of two.
private struct Spectrum {
    var real: [Float]
    var imaginary: [Float]

    var size: Int { real.count }

    static func size(for count: Int) -> Int {
        var size = 2
        while size < count { size *= 2 }
        return size
    }

    init(_ sound: [Float], size: Int) {
        real = sound + [Float](repeating: 0, count: size - sound.count)
        imaginary = [Float](repeating: 0, count: size)
    }

    func power(_ index: Int) -> Float {
        real[index] * real[index] + imaginary[index] * imaginary[index]
    }

    mutating func multiply(byConjugateOf other: Spectrum) {
        for index in real.indices {
            let (a, b) = (real[index], imaginary[index])
            let (c, d) = (other.real[index], -other.imaginary[index])
            real[index] = a * c - b * d
            imaginary[index] = a * d + b * c
        }
    }

    mutating func transformBack() {
        swap(&real, &imaginary)
        transform()
        swap(&real, &imaginary)
    }

    mutating func transform() {
        reorder()
        let size = size
        // Pointers, because the tests are built without optimisation.
        real.withUnsafeMutableBufferPointer { re in
            imaginary.withUnsafeMutableBufferPointer { im in
                var half = 1
                while half < size {
                    for twiddle in 0..<half {
                        let angle = -Float.pi * Float(twiddle) / Float(half)
                        let (c, s) = (cos(angle), sin(angle))
                        var upper = twiddle
                        while upper < size {
                            let lower = upper + half
                            let a = re[lower] * c - im[lower] * s
                            let b = re[lower] * s + im[lower] * c
                            (re[lower], im[lower]) = (re[upper] - a, im[upper] - b)
                            (re[upper], im[upper]) = (re[upper] + a, im[upper] + b)
                            upper += 2 * half
                        }
                    }
                    half *= 2
                }
            }
        }
    }

    private mutating func reorder() {
        var reversed = 0
        for index in 1..<size {
            var bit = size / 2
            while reversed & bit != 0 {
                reversed ^= bit
                bit /= 2
            }
            reversed |= bit
            if index < reversed {
                real.swapAt(index, reversed)
                imaginary.swapAt(index, reversed)
            }
        }
    }
}
