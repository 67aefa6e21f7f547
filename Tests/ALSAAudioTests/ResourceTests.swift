import Foundation
import QuickConnect
import TestRig
import Testing

@testable import ALSAAudio

extension SoundTests {
    /// What a player costs that runs for a year.
    @Suite(.enabled(if: RigPlugin.canBeBuilt, "the virtual card needs a C compiler"))
    struct ResourceTests {
        let folder: TestFolder

        init() throws { folder = try TestFolder() }

        /// - Parameter name: of the threads, so that they can be told from those of other tests.
        private func rig(_ name: String, seconds: Double) async throws -> Rig {
            let card = try await RigPlugin.addCard("outfile \"\(folder("played.raw"))\" lock \"\(folder("lock"))\"")
            return Rig(.named(card), [Signal.tone(440, seconds: seconds)], threadName: name)
        }

        /// The sound thread and the one that watches it.
        private func threads(_ name: String) -> [ThreadList] {
            [ThreadList(named: name), ThreadList(named: "\(name)-watch")]
        }

        @Test func `an idle player holds no card`() async throws {
            let rig = try await rig("qc-idle", seconds: 0.1)
            #expect(threads("qc-idle").map(\.count) == [0, 0])
            #expect(await rig.play(0).code == nil)
            #expect(CardLock.isFree(folder("lock")))
            #expect(openFiles(under: folder.path).isEmpty)
            #expect(threads("qc-idle").map(\.count) == [1, 1])
            await rig.player.close()
        }

        @Test(.measured) func `the threads of an idle player sleep`() async throws {
            let rig = try await rig("qc-sleep", seconds: 0.1)
            #expect(await rig.play(0).code == nil)
            let threads = threads("qc-sleep")
            // The watching thread wakes once more, after the deadline, to see that there is nothing left to watch; then it sleeps.
            try await Task.sleep(for: .seconds(3.5))
            let before = threads.map(\.switches)
            // Sleeps while they should.
            try await Task.sleep(for: .seconds(2))
            #expect(threads.map(\.switches) == before)
            await rig.player.close()
        }

        @Test func `200 sounds leave no descriptors and no threads behind`() async throws {
            let rig = try await rig("qc-many", seconds: 0.005)
            let missing = Rig(.named("nosuch"), [Signal.tone(440, seconds: 0.1)], threadName: "qc-none")
            for _ in 0..<200 {
                #expect(await rig.play(0).code == nil)
                #expect(await missing.play(0).code == .unavailable)
            }
            #expect(openFiles(under: folder.path).isEmpty)
            #expect((threads("qc-many") + threads("qc-none")).map(\.count) == [1, 1, 1, 1])
            await rig.player.close()
            await missing.player.close()
            try await eventually("the threads have ended") {
                (threads("qc-many") + threads("qc-none")).allSatisfy { $0.count == 0 }
            }
        }

        @Test func `a player that is let go ends its threads`() async throws {
            var rig: Rig? = try await rig("qc-letgo", seconds: 0.01)
            #expect(await rig?.play(0).code == nil)
            rig = nil
            try await eventually("the threads have ended") { threads("qc-letgo").allSatisfy { $0.count == 0 } }
        }

        @Test(.measured) func `playing takes hardly any time of the processor`() async throws {
            let rig = try await rig("qc-plays", seconds: 1.5)
            let promise = rig.player.play(sound: 0, for: .daemon)
            try await eventually("it plays") { folder.exists("played.raw") }
            let thread = ThreadList(named: "qc-plays")
            let before = thread.switches
            // Sleeps while it plays.
            try await Task.sleep(for: .seconds(1))
            // A period takes 20 ms, and the card looks twice a period: a loop that waits for nothing makes thousands.
            #expect(thread.switches - before < 500)
            #expect(thread.processorTime < 0.7)
            #expect(await outcome(promise).code == nil)
            await rig.player.close()
        }
    }
}
