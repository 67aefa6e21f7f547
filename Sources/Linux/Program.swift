internal import Glibc

/// Other programs, run without a shell.
public enum Program {
    /// Runs a program to its end and gives what it wrote to standard output, as text; nil where it cannot be run or wrote
    /// nothing.
    /// - Parameter program: a path, or a name that is looked for in `PATH`.
    public static func output(of program: String, _ arguments: [String]) -> String? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        let child = spawn(program, arguments, output: ends)
        close(ends[1])
        guard let child else { return nil }
        let output = all(from: ends[0])
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return output.isEmpty ? nil : String(decoding: output, as: UTF8.self)
    }

    private static func spawn(_ program: String, _ arguments: [String], output ends: [Int32]) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        for end in ends { posix_spawn_file_actions_addclose(&actions, end) }
        var words = ([program] + arguments).map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        return posix_spawnp(&child, program, &actions, nil, words, environ) == 0 ? child : nil
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
