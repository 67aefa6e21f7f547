public import Testing

/// Ends a test that has found, while it runs, that this machine lacks what it needs: `return try skipRest("no tmpfs here")`.
/// - Parameter reason: what is missing.
public func skipRest(_ reason: Comment) throws {
    #if compiler(>=6.3)
        try Test.cancel(reason)
    #else
        // Swift 6.2 can leave out a test only before it begins. So this one passes, with a note in its output.
        withKnownIssue(reason) { Issue.record(reason) }
    #endif
}

extension Trait where Self == ConditionTrait {
    /// A test that runs a program which not every machine has. Where it is missing, the reason says what to install.
    /// - Parameters:
    ///   - program: its name.
    ///   - package: the package of Debian that brings it; nil: it is called as the program.
    public static func needs(_ program: String, from package: String? = nil) -> Self {
        .enabled(
            if: ChildProcess.isInstalled(program),
            "\(program) is not installed: sudo apt install \(package ?? program)"
        )
    }
}
