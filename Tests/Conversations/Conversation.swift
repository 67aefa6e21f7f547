/// One conversation with a daemon: what clients say, and what they must hear. It throws where they hear anything
/// else. It uses only shipped commands, so it can be held with a daemon of any kind.
public struct Conversation: Sendable, CustomStringConvertible {
    /// What the conversation shows, as a sentence.
    public let description: String
    private let body: @Sendable (any ConversationHost) async throws -> Void

    init(_ description: String, _ body: @escaping @Sendable (any ConversationHost) async throws -> Void) {
        self.description = description
        self.body = body
    }

    public func hold(with host: any ConversationHost) async throws { try await body(host) }

    /// All conversations. Each may be held again and again, and beside others.
    public static let all = lines + calls + handlers + events
}

/// Names that no other conversation uses, so that they can be held with one daemon at the same time.
func uniqueName(_ start: String) -> String { "\(start)\(UInt64.random(in: 0...UInt64.max))" }
