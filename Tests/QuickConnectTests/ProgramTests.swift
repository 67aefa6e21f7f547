import Linux
import Testing

@Suite("Other programs")
struct ProgramTests {
    @Test("No program that is started meanwhile gets an end of the pipe")
    func closedOnExec() throws {
        // Of the parent's descriptors, the end of the child's own output.
        let script = """
            own=$(readlink /proc/$$/fd/1)
            for file in /proc/$PPID/fd/*; do
              test "$(readlink "$file")" = "$own" && grep flags "/proc/$PPID/fdinfo/${file##*/}"
            done
            exit 3
            """
        let outcome = try #require(Program.run("/bin/sh", ["-c", script]))
        #expect(outcome.status == 3)
        // O_CLOEXEC
        let flags = outcome.output.split(separator: "\n").compactMap { $0.split(separator: "\t").last }
        #expect(!flags.isEmpty && flags.allSatisfy { (Int($0, radix: 8) ?? 0) & 0o2000000 != 0 }, "\(outcome.output)")
    }
}
