import TestRig
import Testing

@testable import MQTT

@Suite("What the broker keeps of a device")
struct KeptTopicsTests {
    @Test func `what is not wanted is told until the broker has taken it back, also after a restart`() throws {
        let folder = try TestFolder()
        var kept = KeptTopics(folder("topics")) { _ in }
        for topic in ["qc/d/status", "qc/d/state/location", "qc/d/status"] { kept.add(topic) }
        for _ in 0..<2 {
            let again = KeptTopics(folder("topics")) { _ in }
            #expect(again.others(than: ["qc/d/status", "qc/d/info"]) == ["qc/d/state/location"])
        }
        var last = KeptTopics(folder("topics")) { _ in }
        last.remove("qc/d/state/location")
        #expect(last.others(than: ["qc/d/status"]) == [])
        #expect(KeptTopics(folder("topics")) { _ in }.topics == ["qc/d/status"])
    }

    @Test func `without a place to keep them it works, and says so`() {
        var complaints = 0
        var kept = KeptTopics("/nonexistent/topics") { _ in complaints += 1 }
        kept.add("a")
        #expect(kept.topics == ["a"] && complaints == 1)
    }
}
