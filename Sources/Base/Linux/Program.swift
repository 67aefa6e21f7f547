internal import Glibc

/// Other programs, run without a shell.
package enum Program {
    /// Runs a program to its end and returns its standard output as text; nil if it cannot be run or wrote nothing.
    /// - Parameter program: a path, or a name to find in `PATH`.
    package static func output(of program: String, _ arguments: [String]) -> String? {
        guard let ending = run(program, arguments), !ending.output.isEmpty else { return nil }
        return ending.output
    }

    /// Runs a program to its end, with this process's input; nil if it cannot be run.
    /// - Parameters:
    ///   - program: a path, or a name that is looked for in `PATH`.
    ///   - environment: its whole environment; by default this process's.
    ///   - takesErrors: whether what it writes to standard error becomes part of `output`; otherwise it goes to this
    ///     process's standard error.
    package static func run(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = OwnProcess.environment,
        takesErrors: Bool = false
    ) -> RunningProgram.Ending? {
        try? RunningProgram().run(
            [program] + arguments,
            environment,
            hasInput: true,
            errors: takesErrors ? .output : .inherited,
            maxBytes: .max
        )
    }
}
