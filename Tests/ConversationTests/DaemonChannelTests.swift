import JSON
import NIOCore
import NIOPosix
import QuickConnect
import QuickConnectClient
import QuickConnectClientNIO
import Synchronization
import TestRig
import Testing

/// The NIO driver, against a real daemon.
@Suite("A conversation on an event loop")
struct DaemonChannelTests {
    /// What a channel has told.
    private final class Told: Sendable {
        private let events = Mutex<[ClientConversation.Event]>([])

        func add(_ event: ClientConversation.Event) { events.withLock { $0.append(event) } }
        var all: [ClientConversation.Event] { events.withLock { $0 } }
        var values: [JSONValue] { all.compactMap { if case .happened(_, let value) = $0 { value } else { nil } } }
    }

    private func channel(
        _ socket: String,
        _ conversation: ClientConversation = ClientConversation(),
        _ told: Told = Told()
    ) async throws -> DaemonChannel {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        return try await DaemonChannel.make(on: loop, paths: [socket + ".none", socket], conversation) {
            event,
            channel in
            told.add(event)
            if case .called(let call) = event {
                channel.perform { $0.answer(call, with: .success(HandlerCall.Answer(call.data))) }
            }
        }.get()
    }

    private func failure(_ future: EventLoopFuture<DaemonChannel.Reply>) async -> CallFailure? {
        do {
            _ = try await future.get()
            return nil
        } catch {
            return error as? CallFailure
        }
    }

    @Test func `calls, events and handlers work as everywhere`() async throws {
        let daemon = try await DaemonProcess()
        let told = Told()
        let channel = try await channel(daemon.socket, ClientConversation(form: .url), told)
        #expect(try await channel.call("loc").get().command == "showLoc")
        let futures = (0..<2500).map { _ in channel.call("ping") }
        for future in futures { #expect(try await future.get().value == .null) }
        #expect(await failure(channel.call("lok"))?.code == "unknownCommand")
        channel.perform {
            $0.register(handler: "lamp")
            $0.subscribe(to: "news")
        }
        let client = try daemon.connect()
        try await client.awaitCommand("lamp")
        #expect(try await client.value("lamp", [3]) == [3])
        _ = try await channel.call("post", .value(["news", 7])).get()
        try await eventually("it hears the news") { told.values == [7] }
        try await channel.close().get()
        #expect(await failure(channel.call("ping")) != nil)
        try await eventually("the daemon knows") { try await !client.value("state", []).text.contains("lamp") }
    }

    @Test func `a call has a deadline, also with a frozen daemon`() async throws {
        let daemon = try await RestartedDaemon()
        let channel = try await channel(daemon.socket)
        _ = try await channel.call("ping").get()
        daemon.freeze()
        #expect(await failure(channel.call("ping", timeout: .milliseconds(100))) == .timedOut)
        daemon.thaw()
        #expect(try await channel.call("ping", timeout: .seconds(20)).get().value == .null)
        try await channel.close().get()
    }

    @Test func `it connects again, and says again what stands`() async throws {
        let daemon = try await RestartedDaemon()
        let told = Told()
        let channel = try await channel(daemon.socket, ClientConversation(), told)
        channel.perform {
            $0.register(handler: "lamp")
            $0.subscribe(to: "news")
        }
        try await daemon.connect().awaitCommand("lamp")
        let silent = try await daemon.silent()
        let call = channel.call("never")
        #expect(try await silent.nextMessage()?["handlerName"] == "silent")
        try await daemon.kill()
        guard case .connectionLost? = await failure(call) else { return #expect(Bool(false)) }
        let waiting = channel.call("ping")
        try await daemon.start()
        let again = try await daemon.silent()
        #expect(try await waiting.get().value == .null)
        let client = try daemon.connect()
        try await client.awaitCommand("lamp")
        #expect(try await client.value("lamp", [1]) == [1])
        #expect(try await again.ask("call?cmd=ping&id=1") == "handleJSONRequest?cmd=ping&msg=null&id=1")
        _ = try await client.value("post", ["news", 5])
        try await eventually("it hears the news") { told.values == [5] }
        try await channel.close().get()
    }

    @Test func `the opening comes first over each connection, and its refusal is told`() async throws {
        let daemon = try await DaemonProcess()
        let told = Told()
        let opening = ClientConversation(opening: [(command: "actFor", message: .value(["ann", ["groups": []]]))])
        let channel = try await channel(daemon.socket, opening, told)
        _ = await failure(channel.call("ping"))
        // This socket is no gateway's, so the daemon refuses it: before the reply to the call behind it.
        guard case .refused(.opening("actFor"), _)? = told.all.first else { return #expect(Bool(false), "\(told.all)") }
        try await channel.close().get()
    }
}
