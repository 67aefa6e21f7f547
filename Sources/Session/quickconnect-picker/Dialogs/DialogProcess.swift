import CLinux
import Glibc
import Linux

/// A dialog's process. It starts as this program, which only makes the kernel end it with the picker, because nobody
/// would be there for the answer, and then becomes the dialog's program.
enum DialogProcess {
    private static let word = "--show-dialog"

    static func start(_ way: Dialog.Way, _ environment: [String: String]) throws(SystemCallError) -> RunningProgram {
        let words = [word, "\(getpid())", way.program] + way.arguments
        return try RunningProgram(OwnProcess.program, words, environment: environment)
    }

    /// Becomes the dialog's program, if this process was started for that.
    static func becomeDialog(_ words: [String]) {
        guard words.count > 3, words[1] == word, let parent = Int32(words[2]) else { return }
        qc_end_with_parent(parent)
        var arguments = words[3...].map { strdup($0) } + [nil]
        execvp(words[3], &arguments)
        Descriptor.write("\(SystemCallError("execvp \(words[3])"))\n", to: STDERR_FILENO)
        exit(127)
    }
}
