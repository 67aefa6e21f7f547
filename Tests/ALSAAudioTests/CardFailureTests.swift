import Foundation
import QuickConnect
import TestRig
import Testing

@testable import ALSAAudio

extension SoundTests {
    /// What callers get when a card is missing, taken or fails.
    @Suite(.enabled(if: RigPlugin.canBeBuilt, "the virtual card needs a C compiler"))
    struct CardFailureTests {
        let folder: TestFolder
        let sound = quantised(Signal.chirp(from: 300, to: 6000, seconds: 0.6))

        init() throws { folder = try TestFolder() }

        private func rig(_ options: String, patience: Duration = .seconds(2)) async throws -> Rig {
            let card = try await RigPlugin.addCard("outfile \"\(folder("played.raw"))\" \(options)")
            return Rig(.named(card), [sound], patience: patience)
        }

        /// A card that fails after a quarter of a second, once.
        private func rig(fault: String, patience: Duration = .seconds(2)) async throws -> Rig {
            try await rig("fault \(fault) at 12000 once \"\(folder("once"))\"", patience: patience)
        }

        @Test func `a PCM that nobody defined is unavailable, and the answer says what libasound said`() async throws {
            _ = try ALSAConfigurationFile.shared.get()
            let rig = Rig(.named("nosuch"), [sound])
            let result = await rig.play(0)
            #expect(result.code == .unavailable)
            #expect(result.message.contains("nosuch") && result.message.contains("snd_pcm_open"))
            #expect(result.message.contains("Unknown PCM nosuch") && result.message.contains("-2"))
            #expect(rig.log.complaints == [result.message])
        }

        @Test func `a card that another program holds is busy until it is let go`() async throws {
            let rig = try await rig("lock \"\(folder("lock"))\"")
            var holder = CardLock.Holder(folder("lock"))
            #expect(holder != nil)
            let result = await rig.play(0)
            #expect(result.code == .busy)
            #expect(result.message.contains("another program"))
            #expect(rig.log.complaints.count == 1)
            holder = nil
            #expect(await rig.play(0).code == nil)
        }

        @Test(arguments: [EACCES, EPERM])
        func `a card that may not be used is unavailable, with a hint`(code: Int32) async throws {
            let result = await (try await rig("openerr \(code)")).play(0)
            #expect(result.code == .unavailable)
            #expect(result.message.contains("group audio"))
        }

        @Test func `an unplugged card fails its sound at once, and plays again when plugged in`() async throws {
            let rig = try await rig("fault disconnect at 12000 gone \"\(folder("gone"))\"")
            let result = await rig.play(0)
            #expect(result.code == .unavailable)
            #expect(result.message.contains("unplugged"))
            #expect(await rig.play(0).code == .unavailable)
            #expect(rig.log.complaints.count == 2)

            try folder.remove("gone")
            let again = rig.player.play(sound: 0, for: .daemon)
            #expect(await outcome(again).code == .unavailable)  // It is the same card: unplugged again midway.
        }

        @Test(arguments: ["xrun", "suspend", "suspend-hard"])
        func `a sound goes on after the card was recovered, with one log line`(fault: String) async throws {
            let rig = try await rig(fault: fault)
            #expect(await rig.play(0).code == nil)
            #expect(folder.exists("once"))
            let complaints = rig.log.complaints
            #expect(complaints.count == 1)
            #expect(complaints.first?.contains(fault == "xrun" ? "-32" : "-86") == true)
            let played = PCM16(data: try folder.data("played.raw"), channels: 2).channel(0)
            // All was written, so all is in the file, though a listener missed what a suspended card had in its buffer.
            #expect(Signal.find(sound, in: played).correlation > 0.9999)
        }

        @Test func `a card that can be recovered for ever without playing is given up`() async throws {
            let rig = try await rig(fault: "broken")
            #expect(await rig.play(0).code == .unavailable)
            #expect(await rig.play(0).code == nil)
        }

        @Test func `a card whose clock stands still is given up, and the next sound opens it anew`() async throws {
            let rig = try await rig(fault: "freeze", patience: .milliseconds(500))
            var result = Result<Void, CommandError>.success(())
            let time = await seconds { result = await rig.play(0) }
            #expect(result.code == .unavailable)
            #expect(result.message.contains("its clock has stopped"))
            #expect(time > 0.7)
            #expect(rig.log.complaints.count == 1)
            #expect(await rig.play(0).code == nil)
        }

        @Test func `a card without a format that can be played is unavailable, with a hint`() async throws {
            let result = await (try await rig("format U8")).play(0)
            #expect(result.code == .unavailable)
            #expect(result.message.contains("plughw:"))
        }

        @Test func `several sounds that fail together make one log line`() async throws {
            let rig = try await rig(fault: "disconnect")
            let promises = (0..<5).map { _ in rig.player.play(sound: 0, for: .daemon) }
            for promise in promises { #expect(await outcome(promise).code == .unavailable) }
            #expect(rig.log.complaints.count == 1)
        }
    }
}
