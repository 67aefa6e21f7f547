import CLinux
import Concurrency
import Glibc
import Linux
import Synchronization

/// A dialog's process. It starts as this program, which only makes the kernel end it with the picker, because nobody
/// would be there for the answer, and then becomes the dialog's program.
enum DialogProcess {
    private static let word = "--show-dialog"

    /// Runs a program to its end. If the task is cancelled, or the time is over, it is ended before.
    /// - Parameter limit: nil: a person may think for as long as they like.
    static func run(
        _ program: String,
        _ arguments: [String],
        _ environment: [String: String],
        within limit: Duration? = nil
    ) async throws(Interruption) -> RunningProgram.Ending {
        let ending = Deferred<RunningProgram.Ending, Interruption>()
        let running = RunningProgram()
        let end = Mutex<Interruption?>(nil)
        // The kernel ends it with the thread that started it, so that thread waits for it.
        let code = PThread.start("dialog") {
            do throws(SystemCallError) {
                let words = [OwnProcess.program, word, "\(getpid())", program] + arguments
                ending.fulfil(try running.run(words, environment))
            } catch {
                ending.fail(Interruption(.unavailable, "\(error)"))
            }
        }
        guard code == 0 else { throw Interruption(.unavailable, "pthread_create: \(SystemCallError.text(code))") }
        let kill = { @Sendable (reason: Interruption) in
            end.withLock { $0 = $0 ?? reason }
            running.kill()
        }
        if let limit {
            let late = Interruption(.timedOut, "it has not ended within \(limit.components.seconds) s")
            AlarmThread.shared.ring(after: limit) { kill(late) }
        }
        let result: Result<RunningProgram.Ending, Interruption> = await withTaskCancellationHandler {
            do throws(Interruption) { return .success(try await ending.value()) } catch { return .failure(error) }
        } onCancel: {
            kill(Interruption(.cancelled, "the call was cancelled"))
        }
        if let end = end.withLock({ $0 }) { throw end }
        return try result.get()
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
