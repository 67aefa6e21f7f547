import JSON
import TestRig
import Testing

@testable import QuickConnectClient

@Suite("A conversation over a socket, for a loop that polls")
struct DaemonLinkTests {
    /// Remembers what it is told.
    private final class Owner: DaemonLink.Owner {
        var told: [String] = []

        func didConnect(again: Bool) -> [UInt8] {
            told.append(again ? "again" : "connected")
            return Array("{\"handlerName\":\"hello\",\"callbackId\":\"r\(1000 * told.count)\"}\n".utf8)
        }

        func didLose(_ reason: String) { told.append("lost") }
        func didNotConnect(_ failure: SocketPaths.NoDaemon) { told.append("none") }
    }

    private func link(_ path: String, givesUp: Bool = true) -> (DaemonLink, Owner) {
        let owner = Owner()
        let link = DaemonLink(paths: [path], givesUp: givesUp)
        link.owner = owner
        return (link, owner)
    }

    private func name(_ daemon: TinyDaemon) async throws -> JSONValue? { try await daemon.nextMessage()["handlerName"] }

    @Test func `calls wait for a connection, in order, behind what its owner says first`() async throws {
        let daemon = try TinyDaemon()
        let (link, owner) = link(daemon.path)
        try link.advance()
        #expect(link.connection == nil, "nothing waits")
        for name in ["one", "two", "three"] { link.conversation.call(name) }
        try link.advance()
        try link.advance()
        for expected in ["hello", "one", "two", "three"] { #expect(try await name(daemon) == .string(expected)) }
        #expect(owner.told == ["connected"])
        daemon.send(#"{"handlerName":"news","data":1}"#, #"{"responseId":"c1","responseData":2}"#)
        var events: [ClientConversation.Event] = []
        try await eventually("they are there") {
            link.receive()
            events += link.conversation.takeEvents()
            return events.count == 2
        }
        #expect(events.last.map { $0.id?.text } == "c1")
    }

    @Test func `what was handed to a connection is not sent over the next one`() async throws {
        let daemon = try TinyDaemon()
        let (link, owner) = link(daemon.path)
        link.conversation.call("one")
        try link.advance()
        try link.advance()
        #expect(try await name(daemon) == "hello")
        #expect(try await name(daemon) == "one")
        link.conversation.call("handed over")
        link.fillOutbox()
        daemon.hangUp()
        try await eventually("the loss is seen") {
            link.receive()
            return link.connection == nil
        }
        link.conversation.call("two")
        try await eventually("there is another one") {
            try link.advance()
            return link.connection != nil
        }
        try link.advance()
        #expect(try await name(daemon) == "hello")
        #expect(try await name(daemon) == "two")
        #expect(owner.told == ["connected", "lost", "again"])
        #expect(link.conversation.takeEvents().filter { $0.failure != nil }.count == 3)
    }

    @Test func `it gives up at once only where a daemon is needed`() throws {
        let folder = try TestFolder()
        let (link, owner) = link(folder("none"))
        link.isWanted = true
        try link.advance()
        #expect(owner.told == ["none"])
        #expect(link.nextMoment != nil)
        let (needing, _) = self.link(folder("none"))
        needing.isNeeded = true
        needing.conversation.call("one")
        #expect(throws: SocketPaths.NoDaemon.self) { try needing.advance() }
    }

    @Test func `one that is held connects to nothing`() throws {
        let daemon = try TinyDaemon()
        let (link, _) = link(daemon.path, givesUp: false)
        link.isHeld = true
        link.conversation.call("one")
        try link.advance()
        #expect(link.connection == nil && link.nextMoment == nil)
        link.isHeld = false
        try link.advance()
        #expect(link.connection != nil)
    }

    @Test func `a call's deadline is over also where no daemon answers`() throws {
        let folder = try TestFolder()
        let (link, _) = link(folder("none"))
        let id = link.conversation.call("one", before: .now)
        try link.advance()
        #expect(link.conversation.takeEvents() == [.failed(id, .timedOut)])
    }
}
