import CoreModel
import QuickConnect
import Testing

/// `make model` plays a million of them.
@Suite("Histories of the core made at random")
struct HistoryTests {
    @Test(arguments: [1, 2, 3])
    func `whatever happens, and in whatever order, it does what the model does`(seed: UInt64) {
        for number in 0..<100 {
            guard let mistake = HistoryCheck.mistake(seed: HistoryCheck.seed(of: number, in: seed)) else { continue }
            Issue.record("\(mistake)")
            return
        }
    }

    @Test func `the histories reach every error and every end`() throws {
        let all = try (0..<300).flatMap { try HistoryCheck.told(seed: HistoryCheck.seed(of: $0, in: 1)) }
        for code in CommandError.Code.allCases {
            for form in ["url", "bridge"] {
                #expect(all.contains { $0.contains("gets \(form): error \(code.rawValue) of ") }, "\(form) \(code)")
            }
        }
        for words in [
            "handed on", "and the results [", "and the error ", "nobody waits any more for what is awaited by ",
            "hears that nobody waits for an answer to ", "is asked free ", "in validation, ", "in view, ",
            ", error cancelled: question", "has got all", "handlers {\"name\":", "commands null", "gets url: e0 ",
            "gets bridge: e0 ", "c gets bridge: error denied of registerHandler",
        ] {
            #expect(all.contains { $0.contains(words) }, "\(words)")
        }
    }
}
