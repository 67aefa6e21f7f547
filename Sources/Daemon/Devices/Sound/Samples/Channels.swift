/// Conversion of sound between numbers of channels.
enum Channels {
    /// The mean for a single channel; the first channels for fewer; the last channel repeated for more.
    static func converted(_ samples: [Float], from: Int, to: Int) -> [Float] {
        guard from != to else { return samples }
        var result: [Float] = []
        result.reserveCapacity(samples.count / from * to)
        for first in stride(from: 0, to: samples.count, by: from) {
            if to == 1 {
                result.append(samples[first..<(first + from)].reduce(0, +) / Float(from))
            } else {
                for channel in 0..<to { result.append(samples[first + min(channel, from - 1)]) }
            }
        }
        return result
    }
}
