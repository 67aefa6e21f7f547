import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// What one user can take of the daemon, and what is left for others.
@Suite("Each user has a share", .enabled(if: OtherUser.isPossible, "only root can connect as another user"))
struct ShareTests {
    /// What anybody may ask and costs the most.
    private static let dear = String(repeating: "call?cmd=explain&msg=%5B%22state%22%5D&id=1\n", count: 1400)

    @Test func `a neighbour is answered while five connections ask for the dearest`() async throws {
        _ = try await askForTheDearest()
    }

    @Test(.measured) func `a neighbour of five that ask for the dearest waits less than a second`() async throws {
        let longest = try await askForTheDearest()
        #expect(longest < .seconds(1))
    }

    /// - Returns: the longest time that the neighbour waited.
    private func askForTheDearest() async throws -> Duration {
        let daemon = try await open()
        let neighbour = try daemon.connect()
        let busy = try (0..<5).map { _ in try daemon.stranger() }
        for client in busy { client.send([UInt8](Self.dear.utf8)) }
        let longest = try await pings(5, of: neighbour)
        // A new connection is taken meanwhile, too.
        #expect(try await daemon.connect().reply("ping", nil).value == .null)
        for client in busy { client.close() }
        return longest
    }

    @Test(.slow) func `beginnings of lines of a user take its share, and the rest is not read`() async throws {
        let daemon = try await open()
        let rest = try daemon.ownMemory
        let start = [UInt8]("call?cmd=ping&msg=".utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: 4_000_000)
        let clients = try (0..<40).map { _ in try daemon.stranger() }
        for client in clients { client.send(start) }
        let root = try daemon.connect()
        try await eventually("its share is used") { try await kept(root, "uid \(OtherUser.stranger)") > 9 << 20 }
        for _ in 0..<20 { #expect(try await root.reply("ping", nil).value == .null) }
        // Its share, and the one line that is read all the same. What comes is counted twice: it grows by doubling.
        #expect(try await kept(root, "uid \(OtherUser.stranger)") < 32 << 20)
        #expect(try daemon.ownMemory - rest < 100 << 20)
        // Another user's long line is read all the same.
        let long = try daemon.connect(as: OtherUser.stranger - 1)
        let text = String(repeating: "b", count: 3_000_000)
        long.send("call?cmd=ping&id=long&msg=\(text)")
        #expect(try await long.nextReply()?.id == "long")
        for client in clients { client.close() }
        try await eventually("all is given back") { try await kept(root, "uid \(OtherUser.stranger)") == 0 }
    }

    /// Of peers without a share left one line after the other is read all the same.
    @Test func `long lines of many users are taken one after the other, and keep no more than the budget`() async throws
    {
        let daemon = try await open(settings: "limits: {keptBytes: 8388608, lineBytes: 4194304, replyBytes: 1048576}")
        let root = try daemon.connect()
        let line =
            #"{"handlerName":"ping","data":["# + "\"" + String(repeating: "a", count: 3_900_000)
            + #""],"callbackId":"long"}"#
        let lines = [UInt8](String(repeating: line + "\n", count: 4).utf8)
        let clients = try (0..<12).map { try daemon.connect(as: OtherUser.stranger - UInt32($0)) }
        for client in clients { client.send(lines) }
        var most = 0
        for _ in 0..<4 {
            for client in clients {
                let reply = try await client.next()
                #expect(reply?.contains("long") == true, "\(reply ?? "nothing")")
                most = max(most, try await used(root))
            }
        }
        for client in clients { client.close() }
        // A long line on its way counts four times, and the beginnings twice.
        #expect(most < 28 << 20)
    }

    @Test func `a line that does not end while the share is full is closed with overloaded`() async throws {
        let daemon = try await open(settings: "limits: {keptBytes: 8388608, lineBytes: 4194304, replyBytes: 1048576}")
        let start = [UInt8]("call?cmd=ping&msg=".utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: 3_000_000)
        let clients = try (0..<4).map { _ in try daemon.stranger() }
        for client in clients { client.send(start) }
        let code = try await withThrowingTaskGroup(of: String?.self) { group in
            for client in clients { group.addTask { try await client.nextReply()?.code } }
            defer { for client in clients { client.close() } }
            return try await group.next() ?? nil
        }
        #expect(code == "overloaded")
        for client in clients { client.close() }
    }

    @Test func `a user with its share of connections loses the one that is idle for longest`() async throws {
        let daemon = try await open(settings: "limits: {connections: 40}")
        var clients = try (0..<10).map { _ in try daemon.stranger() }
        // All are there, and the second one asked last.
        for client in clients[1...] { #expect(try await client.reply("ping", nil).value == .null) }
        #expect(try await clients[1].reply("ping", nil).value == .null)
        clients.append(try daemon.stranger())
        #expect(try await clients[10].reply("ping", nil).value == .null)
        let last = try await clients[0].nextReply()
        #expect(last?.code == "overloaded")
        #expect(try await clients[0].next() == nil)
        for client in clients[1...] { #expect(try await client.reply("ping", nil).value == .null) }
    }

    @Test func `where none is idle the newcomer is refused, and root comes in`() async throws {
        let daemon = try await open(settings: "limits: {connections: 40}")
        let clients = try (0..<10).map { _ in try daemon.stranger() }
        for client in clients { #expect(try await client.reply("subscribe", ["news"]).code == nil) }
        let refused = try daemon.stranger()
        #expect(try await refused.nextReply()?.code == "overloaded")
        #expect(try await refused.next() == nil)
        #expect(try await daemon.connect(as: OtherUser.stranger - 1).reply("ping", nil).value == .null)
        #expect(try await daemon.connect().reply("ping", nil).value == .null)
        for client in clients { #expect(try await client.reply("ping", nil).value == .null) }
    }

    @Test func `connections that are closed and do not read keep no places`() async throws {
        let daemon = try await open(settings: "limits: {connections: 40}")
        let root = try daemon.connect()
        var clients = try (0..<10).map { _ in try daemon.stranger() }
        for client in clients {
            for _ in 0..<300 {
                client.send([UInt8]("call?cmd=ping&id=1\n".utf8))
                #expect(try await root.reply("ping", nil).value == .null)
            }
        }
        for _ in 0..<60 {
            clients.append(try daemon.stranger())
            #expect(try await daemon.connect().reply("ping", nil).value == .null)
        }
        try await eventually("they are gone") {
            let state = try await root.reply("state", nil).value.objectValue?["connections"]?.arrayValue ?? []
            return state.reduce(0) { $0 + ($1.objectValue?["count"]?.integerValue ?? 0) } <= 40
        }
        for client in clients { client.close() }
    }

    @Test func `replies that nobody reads take a user's share, and another's are sent`() async throws {
        let daemon = try await open(settings: "limits: {keptBytes: 8388608, lineBytes: 1048576, replyBytes: 2097152}")
        let root = try daemon.connect()
        let clients = try (0..<15).map { _ in try daemon.stranger() }
        let some = String(repeating: "call?cmd=explain&msg=%5B%22state%22%5D&id=1\n", count: 200)
        for client in clients { client.send([UInt8](some.utf8)) }
        try await eventually("its share is used") { try await kept(root, "uid \(OtherUser.stranger)") > 1 << 20 }
        let other = try daemon.connect(as: OtherUser.stranger - 1)
        for _ in 0..<50 { #expect(try await other.reply("commands", nil).value != .null) }
        #expect(try await kept(root, "uid \(OtherUser.stranger)") < 4 << 20)
        for client in clients { client.close() }
        try await eventually("all is given back") { try await kept(root, "uid \(OtherUser.stranger)") == 0 }
    }

    @Test func `subscriptions count, and state shows a hundred of them and how many more there are`() async throws {
        let daemon = try await open(settings: "limits: {keptBytes: 4194304, lineBytes: 65536, replyBytes: 1048576}")
        let root = try daemon.connect()
        var refused = 0
        let clients = try (0..<8).map { _ in try daemon.stranger() }
        for (index, client) in clients.enumerated() {
            let names = (0..<500).map { JSONValue.string("event-\(index)-\($0)") }
            let reply = try await client.reply("subscribe", .array(names))
            if reply.code == "overloaded" { refused += 1 } else { #expect(reply.code == nil) }
        }
        #expect(refused > 0 && refused < 8)
        let state = try await root.reply("state", nil).value.objectValue
        #expect(state?["watched"]?.arrayValue?.count == 100)
        #expect(state?["more"]?.objectValue?["watched"] == .integer(Int64((8 - refused) * 500 - 100)))
        #expect(state?["events"]?.arrayValue?.count ?? 0 < 200)
        for client in clients { client.close() }
        try await eventually("nothing is watched") {
            try await root.reply("state", nil).value.objectValue?["watched"] == .array([])
        }
        #expect(try await kept(root, "uid \(OtherUser.stranger)") == 0)
    }

    @Test func `posts that many hear leave a neighbour its turn`() async throws { _ = try await flood() }

    @Test(.measured) func `a neighbour of posts that many hear waits less than a second`() async throws {
        let longest = try await flood()
        #expect(longest < .seconds(1))
    }

    /// - Returns: the longest time that the neighbour waited.
    private func flood() async throws -> Duration {
        let daemon = try await open()
        let listeners = try (0..<50).map { _ in try daemon.stranger() }
        for client in listeners { #expect(try await client.reply("subscribe", ["flood"]).code == nil) }
        let poster = try daemon.stranger()
        let line = "call?cmd=post&msg=%5B%22flood%22%2C1%5D&id=p\n"
        poster.send([UInt8](String(repeating: line, count: 1000).utf8))
        let neighbour = try daemon.connect()
        let longest = try await pings(20, of: neighbour)
        for _ in 0..<1000 { #expect(try await poster.next() != nil) }
        for client in listeners {
            for _ in 0..<1000 { #expect(try await client.next() == "handleJSONRequest?cmd=flood&msg=1") }
        }
        return longest
    }

    // MARK: The rig

    private func open(settings: String = "{}") async throws -> DaemonProcess {
        let daemon = try await DaemonProcess(settings: settings)
        chmod(daemon.folder.path, 0o755)
        return daemon
    }

    /// - Returns: the longest time that an answer took.
    private func pings(_ count: Int, of client: SocketClient) async throws -> Duration {
        var longest = Duration.zero
        for _ in 0..<count {
            let begin = ContinuousClock.now
            #expect(try await client.reply("ping", nil).value == .null)
            longest = max(longest, .now - begin)
        }
        return longest
    }

    /// What the daemon keeps for all peers, in bytes.
    private func used(_ client: SocketClient) async throws -> Int {
        let memory = try await client.reply("state", nil).value.objectValue?["memory"]?.objectValue
        return memory?["used"]?.integerValue.map { Int($0) } ?? 0
    }

    /// What it keeps for one user.
    private func kept(_ client: SocketClient, _ user: String) async throws -> Int {
        let peers = try await client.reply("state", nil).value.objectValue?["memory"]?.objectValue?["peers"]?.arrayValue
        let own = peers?.first { $0.objectValue?["for"]?.stringValue == user }
        guard case .integer(let bytes)? = own?.objectValue?["bytes"] else { return 0 }
        return Int(bytes)
    }
}

extension DaemonProcess {
    /// The memory that is the process's own, in bytes.
    var ownMemory: Int {
        get throws {
            let status = try String(contentsOfFile: "/proc/\(process.pid)/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon") }
            return (line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0) << 10
        }
    }
}
