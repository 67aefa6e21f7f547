public import JSON
public import QuickConnect
public import SyntaxChecking

extension CheckVerdict {
    /// The first mistake in a script of an action, {message, line?, column?, source?}; nil if there is none.
    /// - Throws: if it could not be checked.
    public func mistake() throws(CommandError) -> JSONObject? {
        switch self {
        case .valid: nil
        case .mistake(let mistake): mistake
        case .unchecked(let reason):
            throw CommandError(.unavailable, "the script cannot be checked, and is not run: \(reason)")
        }
    }
}
