/// Makes a history smaller for as long as it still fails.
struct Shrinker {
    /// What is wrong; nil where nothing is.
    let mistake: (History) -> String?

    func shrunk(_ history: History) -> History {
        var best = history
        while true {
            let before = best
            best = withoutSteps(best)
            best = withoutLines(best)
            best = withoutParts(best)
            best = plainer(best)
            if size(best) == size(before) { return best }
        }
    }

    private func size(_ history: History) -> Int {
        let device = history.device
        let calls = history.steps.map { step in if case .calls(_, let lines) = step { lines.count } else { 1 } }
        let commands = device.tables.joined().map { command in
            command.parts.count + (command.patience == .inherited ? 0 : 1) + (command.takesNumber ? 1 : 0)
        }
        let limits = [device.maxCalls, device.maxHandlers, device.maxSubscriptions].filter { $0 < 1024 }
        return (calls + commands).reduce(limits.count, +)
    }

    /// Takes out runs of steps, long ones first.
    private func withoutSteps(_ history: History) -> History {
        var best = history
        var length = max(best.steps.count / 2, 1)
        while true {
            var start = 0
            while start < best.steps.count {
                var smaller = best
                smaller.steps.removeSubrange(start..<min(start + length, best.steps.count))
                if mistake(smaller) != nil { best = smaller } else { start += length }
            }
            if length == 1 { return best }
            length /= 2
        }
    }

    /// Takes calls out of lines that have several.
    private func withoutLines(_ history: History) -> History {
        var best = history
        for step in best.steps.indices {
            var index = 0
            while case .calls(let connection, var lines) = best.steps[step], lines.count > 1, index < lines.count {
                lines.remove(at: index)
                var smaller = best
                smaller.steps[step] = .calls(connection, lines)
                if mistake(smaller) != nil { best = smaller } else { index += 1 }
            }
        }
        return best
    }

    private func withoutParts(_ history: History) -> History {
        var best = history
        for table in best.device.tables.indices {
            for command in best.device.tables[table].indices {
                var index = 0
                while index < best.device.tables[table][command].parts.count {
                    var smaller = best
                    let part = smaller.device.tables[table][command].parts.remove(at: index)
                    if part.way != .shipped, mistake(smaller) != nil { best = smaller } else { index += 1 }
                }
            }
        }
        return best
    }

    /// Takes out what holds for commands and for the device.
    private func plainer(_ history: History) -> History {
        var best = history
        func keep(_ change: (inout History) -> Void) {
            var smaller = best
            change(&smaller)
            if mistake(smaller) != nil { best = smaller }
        }
        for table in best.device.tables.indices {
            for command in best.device.tables[table].indices {
                keep { $0.device.tables[table][command].patience = .inherited }
                keep { $0.device.tables[table][command].takesNumber = false }
            }
        }
        keep { $0.device.maxCalls = 1024 }
        keep { $0.device.maxHandlers = 1024 }
        keep { $0.device.maxSubscriptions = 1024 }
        return best
    }
}
