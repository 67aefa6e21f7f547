import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// `state` tells who is connected.
@Suite("Who is connected", .enabled(if: OtherUser.isPossible, "only root can connect as another user"))
struct ConnectionListTests {
    private static let nobody = OtherUser.stranger

    /// A daemon that lets everybody connect, with a gateway's socket of nobody's.
    private func start() async throws -> (daemon: DaemonProcess, gateway: String, folder: TestFolder) {
        let folder = try TestFolder()
        chmod(folder.path, 0o755)
        let daemon = try await DaemonProcess(
            settings: """
                sockets: [{path: \(folder("web")), mode: 0666, gateway: web, user: nobody, connections: 1000, \
                commands: [state, ping, registerHandler]}]
                handlerCommands: {users: [root, "web:ann"]}
                """
        )
        chmod(daemon.folder.path, 0o755)
        chmod(daemon.socket, 0o666)
        return (daemon, folder("web"), folder)
    }

    private func page(of user: String, _ gateway: String) async throws -> SocketClient {
        let client = try OtherUser.act(as: Self.nobody) { try SocketClient(path: gateway) }
        client.send("call?cmd=actFor&msg=\(user)&id=1")
        #expect(try await client.nextReply()?.code == nil)
        return client
    }

    private func list(_ name: String, _ client: SocketClient) async throws -> [JSONValue] {
        client.send("call?cmd=state&id=1")
        return try await client.nextReply()?.value.objectValue?[name]?.arrayValue ?? []
    }

    private static func group(_ caller: JSONValue, _ count: Int64, _ program: JSONValue) -> JSONValue {
        ["for": caller, "program": program, "count": .integer(count)]
    }

    /// The kernel has cut the name of the tests' program.
    private static var ownProgram: JSONValue {
        get throws {
            let cut = try String(contentsOfFile: "/proc/self/comm", encoding: .utf8).trimmingCharacters(in: .newlines)
            let words = CommandLine.arguments.map { URL(fileURLWithPath: $0).lastPathComponent }
            return .string(words.first { $0.hasPrefix(cut) } ?? cut)
        }
    }

    @Test func `two users and a gateway's users are told apart, those with the most connections first`() async throws {
        let (daemon, gateway, folder) = try await start()
        defer { withExtendedLifetime(folder) {} }
        let program = try Self.ownProgram
        let root = try daemon.connect()
        let (root0, root1) = (
            Self.group(["uid": 0, "user": "root"], 1, program), ["uid": 0, "user": "root"] as JSONValue
        )
        // The one that awaited the daemon may be closing still.
        try await eventually("root alone is counted") { try await list("connections", root) == [root0] }
        let stranger = try daemon.connect(as: Self.nobody)
        let unnamed = try OtherUser.act(as: Self.nobody) { try SocketClient(path: gateway) }
        let (ann, bob, more) = (
            try await page(of: "ann", gateway), try await page(of: "bob", gateway), try daemon.connect()
        )
        let (third, again) = (try daemon.connect(), try await page(of: "ann", gateway))
        let ownUser: JSONValue = ["uid": .integer(Int64(Self.nobody)), "user": "nobody"]
        try await eventually("all are counted") { try await list("connections", root).count == 4 }
        let all = [
            Self.group(root1, 3, program), Self.group(["gateway": "web", "user": "ann"], 2, program),
            // A gateway that has named nobody yet counts as itself.
            Self.group(ownUser, 2, program), Self.group(["gateway": "web", "user": "bob"], 1, program),
        ]
        try await eventually("each is counted") { try await list("connections", ann) == all }
        for gone in [stranger, unnamed, bob, more, third, again] { gone.close() }
        try await eventually("those who went are not counted") {
            try await list("connections", root) == [
                Self.group(["gateway": "web", "user": "ann"], 1, program), root0,
            ]
        }
    }

    @Test func `a handler's owner is told with name and program`() async throws {
        let (daemon, gateway, folder) = try await start()
        defer { withExtendedLifetime(folder) {} }
        let (root, ann) = (try daemon.connect(), try await page(of: "ann", gateway))
        for (client, name) in [(root, "a"), (ann, "b")] {
            client.send("call?cmd=registerHandler&msg=\(name)&id=1")
            #expect(try await client.nextReply()?.code == nil)
        }
        let program = try Self.ownProgram
        let root0: JSONValue = ["uid": 0, "pid": .integer(Int64(getpid())), "user": "root"]
        // A name that the kernel has cut is whole soon.
        try await eventually("both are told") {
            try await list("handlers", ann) == [
                ["name": "a", "for": root0, "program": program],
                ["name": "b", "for": ["gateway": "web", "user": "ann"], "program": program],
            ]
        }
    }

    @Test func `a name that the kernel has cut is told whole where the command line has it`() async throws {
        let (daemon, gateway, folder) = try await start()
        defer { withExtendedLifetime((gateway, folder)) {} }
        let root = try daemon.connect()
        let program = """
            import ctypes, signal, socket, sys
            if sys.argv[2:]: ctypes.CDLL(None).prctl(15, sys.argv[2].encode())
            s = socket.socket(socket.AF_UNIX)
            s.connect(sys.argv[1])
            signal.pause()
            """
        for name in ["a-program-with-a-long-name", "fifteen-letters", String(repeating: "long", count: 20)] {
            try folder.write("#!/usr/bin/python3\n\(program)\n", to: name)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder(name))
        }
        let whole = try ChildProcess(folder("a-program-with-a-long-name"), [daemon.socket])
        let exact = try ChildProcess(folder("fifteen-letters"), [daemon.socket])
        let tooLong = try ChildProcess(folder(String(repeating: "long", count: 20)), [daemon.socket])
        let other = try ChildProcess(folder("fifteen-letters"), [daemon.socket, "quite-another-name"])
        let expected: Set<JSONValue> = [
            "a-program-with-a-long-name", "fifteen-letters", "longlonglonglon", "quite-another-name",
            try Self.ownProgram,
        ]
        try await eventually("all are told by their names") {
            Set(try await list("connections", root).compactMap { $0.objectValue?["program"] }) == expected
        }
        for child in [whole, exact, tooLong, other] { child.send(SIGTERM) }
        for child in [whole, exact, tooLong, other] { _ = try await child.wait() }
    }

    @Test func `of very many callers those with the most connections are told, and how many others there are`()
        async throws
    {
        let (daemon, gateway, folder) = try await start()
        defer { withExtendedLifetime(folder) {} }
        let root = try daemon.connect()
        var pages: [SocketClient] = []
        for number in 0..<300 { pages.append(try await page(of: "user\(number)", gateway)) }
        pages.append(try await page(of: "user299", gateway))
        // A name that the kernel has cut is whole soon.
        let most = Self.group(["gateway": "web", "user": "user299"], 2, try Self.ownProgram)
        try await eventually("the last names are whole") { try await list("connections", root).first == most }
        root.send("call?cmd=state&id=1\ncall?cmd=ping&id=2")
        let state = try await root.nextReply()?.value.objectValue
        #expect(try await root.next()?.contains("id=2") == true)
        let told = state?["connections"]?.arrayValue ?? []
        #expect(told.count == 256)
        // 299 users of pages, and root.
        #expect(state?["more"]?.objectValue?["connections"] == 45)
        #expect(told.first == most)
        let names = told.dropFirst().map { $0.objectValue?["for"]?.text ?? "" }
        #expect(names == names.sorted())
        withExtendedLifetime(pages) {}
    }
}
