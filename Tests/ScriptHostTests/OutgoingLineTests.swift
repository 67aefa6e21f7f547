import QuickConnect
import Testing

@testable import ScriptHost

@Suite("Lines that the daemon would not read")
struct OutgoingLineTests {
    private let limits: Limits = {
        var limits = Limits()
        limits.lineBytes = 100
        limits.depth = 4
        return limits
    }()

    private func isSent(_ line: String) -> Bool {
        do throws(TooLarge) {
            try OutgoingLine.check(Array(line.utf8), limits)
            return true
        } catch {
            return false
        }
    }

    @Test(arguments: [
        "[[[[1]]]]", #"{"a":{"b":{"c":{}}}}"#, "[[],[],[],[],[],[[[]]]]", #"["[[[[[[","]]]"]"#, #"["\"[[[[["]"#,
        #"["\\",[[["\\\"[[["]]]]"#,
    ])
    func `a line of as many arrays and objects as the limit is sent`(line: String) {
        #expect(isSent(line))
    }

    @Test(arguments: ["[[[[[1]]]]]", #"{"a":{"b":{"c":{"d":[]}}}}"#, #"["\\",[[[["\\\""]]]]]"#])
    func `a deeper one is not`(line: String) {
        #expect(!isSent(line))
    }

    @Test func `a line may be as long as the limit and no longer`() {
        #expect(isSent(String(repeating: "x", count: 100)))
        #expect(!isSent(String(repeating: "x", count: 101)))
    }
}
