import Conversations
import TestRig
import Testing

@Suite("Conversations, with the real daemon over the real socket", .timeLimit(.minutes(5)))
struct SocketConversations {
    @Test("Every conversation goes as it should, one after another with one daemon")
    func holdAll() async throws {
        let daemon = try await DaemonProcess()
        for conversation in Conversation.all {
            do {
                try await conversation.hold(with: SocketHost(daemon: daemon))
            } catch {
                Issue.record("\(conversation): \(error)")
            }
        }
        #expect(try await daemon.stop() == .status(0))
    }

    @Test("All conversations at once do not disturb each other")
    func holdAllAtOnce() async throws {
        let daemon = try await DaemonProcess()
        await withTaskGroup(of: Void.self) { group in
            for conversation in Conversation.all {
                group.addTask {
                    do {
                        try await conversation.hold(with: SocketHost(daemon: daemon))
                    } catch {
                        Issue.record("\(conversation): \(error)")
                    }
                }
            }
        }
        #expect(try await daemon.stop() == .status(0))
    }
}

private struct SocketHost: ConversationHost {
    let daemon: DaemonProcess

    func connect() throws -> any ConversationClient { try daemon.connect() }
}
