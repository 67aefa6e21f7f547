public import QuickConnect

/// The users of the device as callers. Looking them up may block.
public protocol UserAccounts: Sendable {
    /// The user as a caller, with its groups; nil if the device has no such user.
    func caller(forUser name: String) async -> Caller?
}
