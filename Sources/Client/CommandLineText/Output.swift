internal import Glibc
internal import Linux

/// Writes text, or ends the program: silently if nobody reads any more.
package func write(_ text: String, to descriptor: Int32) {
    switch Descriptor.write(text, to: descriptor) {
    case 0: break
    case EPIPE: exit(0)
    case let code:
        let reason = SystemCallError.text(code)
        let name = OwnProcess.program.split(separator: "/").last ?? "quickconnect"
        Descriptor.write("\(name): the output cannot be written: \(reason)\n", to: STDERR_FILENO)
        exit(ExitError.outputStatus)
    }
}

/// Prints a line.
package func say(_ line: String) { write(line + "\n", to: STDOUT_FILENO) }
