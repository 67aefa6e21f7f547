import Fuzzer
import JSON

@main enum FuzzSession {
    static func main() { fuzz(hold) }
}

/// What libFuzzer calls with each input: what two clients send to a daemon, and what else happens meanwhile.
///
/// The first byte says how it ends. Each line of the rest begins with who, `a` or `b`, and what:
///
///     a>LINE     the client sends a line
///     a~TEXT     the client sends the beginning of a line that is too long
///     a=         the client answers all that its handlers were asked
///     a&         from now on its handlers answer at once, even before the call to them has returned
///     a@         it hangs up when it is written to next, even in the middle of a call
///     a.         it ends its input
///     a!         it hangs up, and another client takes its place
///     -s -f      what waits longest is settled, or fails
///     -t         the deadlines that have come are told
///     -r         the mappings are read anew
///     -x         the daemon is told to stop
private func hold(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes, count > 1 else { return 0 }
    let script = UnsafeBufferPointer(start: bytes + 1, count: min(count - 1, 4000))
    let daemon = spare ?? SessionDaemon()
    let kept = perform(script, with: daemon, ending: bytes[0])
    daemon.checkEnd()
    for member in kept { check(!member.isThere, "a connection that is gone takes no memory of the daemon") }
    spare = daemon.isStopping ? nil : daemon
    return 0
}

/// A daemon lives for many sessions, of which nothing may be left in it. libFuzzer has one thread.
nonisolated(unsafe) private var spare: SessionDaemon?

private func perform(_ script: UnsafeBufferPointer<UInt8>, with daemon: SessionDaemon, ending: UInt8) -> [Remembered] {
    var clients = [SessionClient("alice", 1000, daemon), SessionClient("root", 0, daemon)]
    var all = clients
    var steps = 0
    for line in script.split(separator: UInt8(ascii: "\n")) where line.count > 1 && steps < 100 {
        steps += 1
        let what = line[line.startIndex + 1]
        let rest = Array(line.dropFirst(2))
        switch line[line.startIndex] {
        case UInt8(ascii: "a"), UInt8(ascii: "b"):
            let index = Int(line[line.startIndex] - UInt8(ascii: "a"))
            if what == UInt8(ascii: "!") || clients[index].isClosed {
                clients[index].close()
                clients[index] = SessionClient(index == 0 ? "alice" : "root", index == 0 ? 1000 : 0, daemon)
                all.append(clients[index])
            }
            clients[index].perform(what, rest)
        case UInt8(ascii: "-"): daemon.perform(what)
        default: break
        }
    }
    end(daemon, clients, ending)
    for client in all { client.checkEnd() }
    return all.map(\.remembered)
}

/// Whatever still waits comes to its end: by itself, by the end of the input, or as the clients hang up.
private func end(_ daemon: SessionDaemon, _ clients: [SessionClient], _ ending: UInt8) {
    if ending & 1 != 0 { for client in clients { client.endInput() } }
    if ending & 2 != 0 { daemon.ring() }
    if ending & 4 != 0 {
        var isMoving = true
        while isMoving {
            isMoving = daemon.settleFirst()
            for client in clients where client.answerAll() { isMoving = true }
        }
        for client in clients { client.checkIdle() }
    }
    if ending & 8 != 0 { daemon.stop() }
    for client in ending & 16 != 0 ? clients.reversed() : clients { client.close() }
}
