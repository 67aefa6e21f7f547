/// What a command does at worst, from least to most.
public enum CommandEffect: String, Sendable, CaseIterable, Comparable {
    /// It only looks.
    case reads
    /// It sets what can be set back.
    case changes
    /// It does something in the world: sound, motors, dialogs, messages.
    case acts
    /// It removes or overwrites what cannot be brought back.
    case destroys

    /// Whether it does less at worst.
    public static func < (one: CommandEffect, other: CommandEffect) -> Bool {
        (allCases.firstIndex(of: one) ?? 0) < (allCases.firstIndex(of: other) ?? 0)
    }

    /// What the word means, for people.
    public var words: String {
        switch self {
        case .reads: "only looks"
        case .changes: "sets what can be set back"
        case .acts: "does something in the world"
        case .destroys: "may remove or overwrite what cannot be brought back"
        }
    }
}
