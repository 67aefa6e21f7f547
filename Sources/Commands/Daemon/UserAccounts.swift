public import QuickConnect

/// The users of the device, as callers that they would be. Looking them up may block.
public protocol UserAccounts: Sendable {
    /// The user as a caller, with its groups; nil where the device has no such user.
    func caller(forUser name: String) async -> Caller?
}
