import Foundation
import JSON
import QuickConnect
import TestRig
import Testing

/// What a neighbour of busy peers waits for the script host: a command that an idle script answers, and `macro list`.
///
/// It is compared with another daemon and host in the same seconds, which nobody loads, so that a machine that is busy with
/// other things counts for both.
@Suite("Neighbours at the script host", .serialized)
struct NeighbourScriptTests {
    /// How much later a neighbour may be served. Debug builds take about six times as long for each call.
    ///
    /// A list of macros passes five queues, in each of which one long text of the others may be under way; with many peers
    /// there always is one.
    private static func limit(beside count: Int) -> Duration {
        let time: Duration = count <= 5 ? .milliseconds(10) : .milliseconds(30)
        return Products.areReleased ? time : time * 6
    }
    /// What the host and the macros' process may use more, while peers are busy and afterwards.
    static let budget = 64 << 20
    static let kept = 16 << 20

    /// Sends each of the requests in turn on each connection, some at a time, as another user.
    static let peers = """
        import os, selectors, socket, sys
        path, count, user, requests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
        if os.geteuid() == 0: os.setuid(user)
        lines = [open(name, 'rb').read() for name in requests]
        selector = selectors.DefaultSelector()
        class Peer: pass
        closed = 0
        def connect(peer):
            peer.socket = socket.socket(socket.AF_UNIX)
            peer.socket.connect(path)
            peer.socket.setblocking(False)
            peer.output, peer.free = b'', 4
            selector.register(peer.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, peer)
        def again(peer):
            # Where their user's share is used up, one line that does not end within 2 s may cost its connection.
            global closed
            closed += 1
            if closed > 3: sys.exit('the daemon has closed connections')
            selector.unregister(peer.socket)
            peer.socket.close()
            connect(peer)
        for number in range(count):
            peer = Peer()
            peer.next = number
            connect(peer)
        print('ready', flush=True)
        while True:
            for key, events in selector.select():
                peer = key.data
                if events & selectors.EVENT_READ:
                    try: data = peer.socket.recv(1 << 20)
                    except BlockingIOError: data = None
                    except ConnectionError: data = b''
                    if data == b'':
                        again(peer)
                        continue
                    if data: peer.free += data.count(b'\\n')
                while peer.free > 0:
                    peer.output += lines[peer.next % len(lines)]
                    peer.next += 1
                    peer.free -= 1
                if peer.output:
                    try: peer.output = peer.output[peer.socket.send(peer.output):]
                    except BlockingIOError: pass
                    except ConnectionError:
                        again(peer)
                        continue
                selector.modify(peer.socket, selectors.EVENT_READ | (selectors.EVENT_WRITE if peer.output else 0), peer)
        """

    /// A daemon, and a host with an idle script and macros.
    private final class Rig {
        let daemon: DaemonProcess
        let host: ScriptProcess
        let client: SocketClient
        private let mappings: TestFolder

        init() async throws {
            mappings = try TestFolder.mappings("idle: {help: Idle., business: [\"script:idle\"]}\n")
            daemon = try await DaemonProcess(mappings: mappings.path)
            let macros = Dictionary(uniqueKeysWithValues: (1...20).map { ("m\($0).js", "x => x") })
            let script = "WebViewJavascriptBridge.registerHandler('idle', () => 1)"
            host = try ScriptProcess.host(["idle.js": script], macros: macros, daemon: daemon)
            client = try daemon.connect()
            for name in ["macroFiles", "macros", "idle"] { try await client.awaitCommand(name) }
            #expect(try await client.value("macro", ["save", "long", .string(NeighbourScriptTests.long)]) != .null)
        }

        /// How long the calls of a neighbour take.
        func latency() async throws -> Duration {
            let start = ContinuousClock.now
            _ = try await client.value("idle", [])
            let middle = ContinuousClock.now
            _ = try await client.value("macro", ["list"])
            return max(middle - start, .now - middle)
        }

        /// What the host and its children use.
        var residentBytes: Int {
            let text =
                (try? String(
                    contentsOfFile: "/proc/\(host.process.pid)/task/\(host.process.pid)/children",
                    encoding: .utf8
                ))
            let children = text?.split(separator: " ").compactMap { Int32($0) } ?? []
            return (children + [host.process.pid]).map { pid in
                let fields = (try? String(contentsOfFile: "/proc/\(pid)/statm", encoding: .utf8))?.split(separator: " ")
                return (fields.flatMap { Int($0[1]) } ?? 0) * Int(getpagesize())
            }.reduce(0, +)
        }
    }

    static let long = "() => '\(String(repeating: "x", count: 200_000))'"

    private static func requests(_ folder: TestFolder) throws -> [String] {
        let calls: [(String, JSONValue)] = [
            ("macro", ["check", "x", .string(DearTextTests.text)]), ("macro", ["list"]), ("innerProgress", []),
            ("macro", ["check", "x", .string(long)]), ("macro", ["history", "long"]), ("innerProgress", [3]),
            ("macro", ["show", "long"]), ("macro", ["run", "m1", 1]), ("scripts", []),
        ]
        return try calls.enumerated().map { number, call in
            try folder.write("call?cmd=\(call.0)&id=x&msg=\(PercentEncoding.encode(call.1.text))\n", to: "\(number)")
            return folder("\(number)")
        }
    }

    @Test(
        .measured,
        .enabled(if: OtherUser.isPossible, "only root can connect as another user"),
        arguments: [1, 2, 5, 50]
    )
    func `is served in time, whatever others do, and the memory comes back`(count: Int) async throws {
        let (loaded, idle) = (try await Rig(), try await Rig())
        let folder = try TestFolder()
        chmod(folder.path, 0o755)
        chmod(loaded.daemon.socket, 0o666)
        let rest = loaded.residentBytes
        let words = ["-c", Self.peers, loaded.daemon.socket, "\(count)", "\(OtherUser.stranger)"]
        let peers = try ChildProcess(
            "/usr/bin/python3",
            words + (try Self.requests(folder)),
            environment: ["PATH": "/usr/bin:/bin"]
        )
        defer { kill(peers.pid, SIGKILL) }
        try await eventually("the peers are there") {
            String(decoding: peers.standardOutput, as: UTF8.self).contains("ready")
        }
        var late: [Duration] = []
        var most = 0
        // Three times, and three times more where that is too long: what else the machine does may take a processor.
        for round in 0..<6 where round < 3 || late.allSatisfy({ $0 > Self.limit(beside: count) }) {
            var (worst, base) = (Duration.zero, Duration.zero)
            let end = ContinuousClock.now + .seconds(2)
            while ContinuousClock.now < end {
                base = max(base, try await idle.latency())
                worst = max(worst, try await loaded.latency())
                most = max(most, loaded.residentBytes)
            }
            late.append(worst - base)
        }
        let figures =
            "\(count) peers: later by \(late.map { $0 / .milliseconds(1) }) ms; memory \(rest >> 20), \(most >> 20) MiB"
        print(figures)
        #expect(late.min() ?? .seconds(9) <= Self.limit(beside: count), "\(figures)")
        #expect(most - rest <= Self.budget, "\(figures)")
        #expect(String(decoding: peers.standardError, as: UTF8.self) == "")
        kill(peers.pid, SIGKILL)
        try await eventually("the memory comes back", within: .seconds(10)) { loaded.residentBytes - rest <= Self.kept }
    }
}
