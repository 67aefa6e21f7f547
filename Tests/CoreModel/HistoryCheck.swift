import TestRig

/// Holds the daemon's core against the model, history by history.
public enum HistoryCheck {
    /// Plays the history of a seed.
    /// - Returns: what is wrong, with the shortest history found in which it is; nil where nothing is.
    public static func mistake(seed: UInt64) -> String? {
        let history = HistoryMaker.history(seed: seed)
        guard let first = mistake(in: history) else { return nil }
        let shrunk = Shrinker(mistake: mistake(in:)).shrunk(history)
        return """
            seed \(seed), history of \(history.steps.count) steps, shrunk to \(shrunk.steps.count)
            \(shrunk)
            \(mistake(in: shrunk) ?? "played again it is right; what was wrong at first: \(first)")
            """
    }

    /// The seed of a history of a run, which replays it alone.
    public static func seed(of number: Int, in run: UInt64) -> UInt64 {
        var random = SeededGenerator(seed: run &+ UInt64(number))
        return random.next() >> 16
    }

    /// All that the daemon does in the history of a seed, in the words of ``mistake(seed:)``.
    public static func told(seed: UInt64) throws -> [String] {
        let history = HistoryMaker.history(seed: seed)
        let daemon = try RealDaemon(history.device)
        return try history.steps.flatMap { try daemon.take($0) }
    }

    static func mistake(in history: History) -> String? {
        var model = Model(history.device)
        do {
            let daemon = try RealDaemon(history.device)
            let ends: [Step] = [.finish, .endAll]
            for (index, step) in (history.steps + ends).enumerated() {
                let expected = model.take(step)
                if let mistake = expected.mistake(in: try daemon.take(step)) {
                    return "at step \(index + 1), «\(step)»:\n  \(mistake)"
                }
            }
            return daemon.end()
        } catch {
            return "the daemon could not be made: \(error)"
        }
    }
}
