import CoreModel
import Glibc

/// `core-model HISTORIES [SEED]`: plays that many histories, on all cores; with `one` in place of a number only that
/// of the seed.
@main
struct Main {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        let seed = arguments.dropFirst().first.map { UInt64($0) } ?? UInt64.random(in: 0...1 << 48)
        guard let seed, let first = arguments.first else {
            print("usage: core-model HISTORIES [SEED], or core-model one SEED")
            exit(2)
        }
        if first == "one" {
            guard let mistake = HistoryCheck.mistake(seed: seed) else {
                print("seed \(seed): nothing is wrong")
                return
            }
            print(mistake)
            exit(1)
        }
        guard let count = Int(first), count > 0 else {
            print("'\(first)' is no number of histories")
            exit(2)
        }
        print("\(count) histories, SEED=\(seed)")
        let began = ContinuousClock.now
        let workers = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        let mistake = await withTaskGroup(of: String?.self) { group in
            for worker in 0..<workers {
                group.addTask {
                    for number in stride(from: worker, to: count, by: workers) where !Task.isCancelled {
                        if let mistake = HistoryCheck.mistake(seed: HistoryCheck.seed(of: number, in: seed)) {
                            return mistake
                        }
                    }
                    return nil
                }
            }
            for await mistake in group where mistake != nil {
                group.cancelAll()
                return mistake
            }
            return nil
        }
        if let mistake {
            print(mistake)
            exit(1)
        }
        print("all \(count) as the model says, in \(ContinuousClock.now - began)")
    }
}
