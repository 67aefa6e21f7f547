internal import CLinux
internal import Glibc

/// Other programs, run without a shell.
package enum Program {
    /// How a program ended, and what it wrote.
    package struct Outcome: Sendable {
        /// Its exit status; 128 plus the signal's number if a signal ended it.
        package let status: Int32
        /// What it wrote to standard output, as text.
        package let output: String
    }

    /// Runs a program to its end and returns its standard output as text; nil if it cannot be run or wrote nothing.
    /// - Parameter program: a path, or a name to find in `PATH`.
    package static func output(of program: String, _ arguments: [String]) -> String? {
        guard let outcome = run(program, arguments), !outcome.output.isEmpty else { return nil }
        return outcome.output
    }

    /// Runs a program to its end; nil if it cannot be run.
    /// - Parameters:
    ///   - program: a path, or a name that is looked for in `PATH`.
    ///   - environment: its whole environment; by default this process's.
    ///   - takesErrors: whether what it writes to standard error becomes part of `output`.
    package static func run(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = OwnProcess.environment,
        takesErrors: Bool = false
    ) -> Outcome? {
        var ends: [Int32] = [-1, -1]
        // Programs that other threads start meanwhile must not hold an end.
        guard qc_pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        let outputs = takesErrors ? [STDOUT_FILENO, STDERR_FILENO] : [STDOUT_FILENO]
        let child = try? start([program] + arguments, environment, descriptors: outputs.map { (ends[1], $0) })
        close(ends[1])
        guard let child else { return nil }
        let output = all(from: ends[0])
        return Outcome(status: wait(for: child).shellStatus, output: String(decoding: output, as: UTF8.self))
    }

    private static func all(from descriptor: Int32) -> [UInt8] {
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return output }
            output += buffer[..<count]
        }
    }
}
