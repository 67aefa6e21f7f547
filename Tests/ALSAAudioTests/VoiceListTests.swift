import Concurrency
import JSON
import QuickConnect
import Testing

@testable import ALSAAudio

@Suite struct VoiceListTests {
    private let other = Caller(.peer(uid: 7, pid: 8, groups: []))

    private func request(for caller: Caller = .daemon) -> VoiceRequest {
        let source = BufferSource(SoundBuffer(samples: [0], channels: 1, rate: 48_000))
        return VoiceRequest(source: source, description: ["name": "a.wav"], seconds: 0.5, caller: caller)
    }

    @Test func `only the first sound tells the thread, until the thread has found nothing more`() {
        var list = VoiceList()
        let admissions = (0..<2).map { _ in list.admit(request(), Promise()) }
        #expect(admissions == [.first, .joined])
        let whileBusy = list.hasMore()
        _ = list.removeUnplayed(waiting: true)
        let afterwards = list.hasMore()
        let next = list.admit(request(), Promise())
        #expect(whileBusy && !afterwards && next == .first)
    }

    @Test func `a full list and a closed one refuse`() {
        var list = VoiceList()
        for _ in 0..<VoiceList.limit { _ = list.admit(request(), Promise()) }
        let full = list.admit(request(), Promise())
        list.isClosed = true
        let closed = list.admit(request(), Promise())
        #expect(full == .refused(.full) && closed == .refused(.closed))
    }

    @Test func `a sound waits, plays, has been played, and is gone`() {
        var list = VoiceList()
        let promise = Promise<Void>()
        _ = list.admit(request(for: other), promise)
        let taken = list.takeWaiting().map(\.id)
        let takenAgain = list.takeWaiting()
        #expect(taken.count == 1 && takenAgain.isEmpty && list.ids == Set(taken))

        list.setPositions([taken[0]: 0.25049])
        let entry: JSONValue = ["name": "a.wav", "position": 0.25, "seconds": 0.5, "for": ["uid": 7, "pid": 8]]
        #expect(list.json == [entry])

        list.setPlayed(taken)
        let unplayed = list.removeUnplayed(waiting: true)
        let played = list.removePlayed()
        #expect(unplayed.isEmpty && played.first === promise && list.ids.isEmpty)
    }

    @Test func `a failure of the PCM is none of those that wait for the next opening`() {
        var list = VoiceList()
        _ = list.admit(request(), Promise())
        _ = list.takeWaiting()
        let late = Promise<Void>()
        _ = list.admit(request(), late)
        let failed = list.removeUnplayed(waiting: false)
        let left = list.removeUnplayed(waiting: true)
        #expect(failed.count == 1 && left.first === late)
    }

    @Test func `the sounds of some callers are taken out, whatever they do`() {
        var list = VoiceList()
        _ = list.admit(request(), Promise())
        _ = list.takeWaiting()
        _ = list.admit(request(for: other), Promise())
        #expect(list.callers == [.daemon, other])
        let removed = list.remove(of: [other])
        #expect(removed.count == 1 && list.callers == [.daemon])
    }
}
