import QuickConnect
import QuickConnectClient
import TestRig
import Testing

@testable import ScriptHost

@Suite("The connection to the daemon")
struct DaemonLinkTests {
    /// Remembers what it is told.
    private final class Owner: DaemonLink.Owner {
        var told: [String] = []

        func didConnect(again: Bool) -> [String] {
            told.append(again ? "again" : "connected")
            return ["hello"]
        }

        func didLose(_ reason: String) { told.append("lost") }
        func didNotConnect(_ failure: SocketPaths.NoDaemon) { told.append("none") }
    }

    @Test func `lines wait for a connection, in order, behind what its owner says first`() async throws {
        let daemon = try TinyDaemon()
        let owner = Owner()
        let link = DaemonLink(paths: [daemon.path], givesUp: true, isHeld: false)
        link.owner = owner
        try link.advance()
        #expect(link.connection == nil, "nothing waits")
        link.send("one")
        link.send(Array("two\nthree\n".utf8))
        try link.advance()
        for line in ["hello", "one", "two", "three"] { #expect(try await daemon.next() == line) }
        #expect(owner.told == ["connected"])
        daemon.send("answer", "another")
        try await eventually("it is there") { link.receive() == Array("answer\nanother\n".utf8) }
    }

    @Test func `what was handed to a connection is not sent over the next one`() async throws {
        let daemon = try TinyDaemon()
        let owner = Owner()
        let link = DaemonLink(paths: [daemon.path], givesUp: true, isHeld: false)
        link.owner = owner
        link.send("one")
        try link.advance()
        #expect(try await daemon.next() == "hello")
        #expect(try await daemon.next() == "one")
        link.send("handed over")
        daemon.hangUp()
        try await eventually("the loss is seen") {
            _ = link.receive()
            return link.connection == nil
        }
        link.send("two")
        try await eventually("there is another one") {
            try link.advance()
            return link.connection != nil
        }
        try link.advance()
        #expect(try await daemon.next() == "hello")
        #expect(try await daemon.next() == "two")
        #expect(owner.told == ["connected", "lost", "again"])
        #expect(link.lossCount == 1)
    }

    @Test func `it gives up at once only where a daemon is needed`() throws {
        let folder = try TestFolder()
        let link = DaemonLink(paths: [folder("none")], givesUp: true, isHeld: false)
        let owner = Owner()
        link.owner = owner
        link.isWanted = true
        try link.advance()
        #expect(owner.told == ["none"])
        #expect(link.nextTry != nil)
        let needing = DaemonLink(paths: [folder("none")], givesUp: true, isHeld: false)
        needing.isNeeded = true
        needing.send("one")
        #expect(throws: SocketPaths.NoDaemon.self) { try needing.advance() }
    }

    @Test func `a script whose text is only being tried connects to nothing`() throws {
        let daemon = try TinyDaemon()
        let link = DaemonLink(paths: [daemon.path], givesUp: false, isHeld: true)
        link.send("one")
        try link.advance()
        #expect(link.connection == nil)
        link.isHeld = false
        try link.advance()
        #expect(link.connection != nil)
    }
}
