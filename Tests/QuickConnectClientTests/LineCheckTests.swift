import Testing

@testable import QuickConnectClient

@Suite("Lines that the daemon would not read")
struct LineCheckTests {
    private let bounds: ClientConversation.Bounds = {
        var bounds = ClientConversation.Bounds()
        bounds.lineBytes = 100
        bounds.depth = 4
        return bounds
    }()

    private func isSent(_ line: String) -> Bool {
        Array(line.utf8).withUnsafeBufferPointer { LineCheck.problem($0, bounds) == nil }
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
