/// How sound of some channels becomes sound of others.
enum Channels {
    /// The mean where one is wanted, the first ones where fewer are, the last one again where more are.
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
