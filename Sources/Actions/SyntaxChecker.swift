internal import Glibc
public import JSON
internal import Linux
public import QuickConnect

/// Has a program with a JavaScript engine check the syntax of a script, without running it.
public struct SyntaxChecker: Sendable {
    private let program: String
    private let environment: [String: String]

    /// - Parameter program: the path of quickconnect-scripts.
    public init(program: String, environment: [String: String]) {
        self.program = program
        self.environment = environment
    }

    /// The program that is installed with this one.
    public static var installed: SyntaxChecker {
        SyntaxChecker(program: Program.installed("quickconnect-scripts"), environment: OwnProcess.environment)
    }

    /// The first mistake, {message, line?, column?, source?}; nil if there is none.
    public func mistake(in text: String) throws(CommandError) -> JSONObject? {
        do throws(SystemCallError) {
            let file = try TemporaryFile(text)
            let ending = try RunningProgram(program, ["--check-script", file.path], environment: environment).wait()
            guard ending.status == 0, let value = try? JSONParser.parse(ending.output) else {
                throw SystemCallError("\(program) --check-script", ENOEXEC)
            }
            return value.objectValue
        } catch {
            throw CommandError(.unavailable, "the script cannot be checked, and is not run: \(error)")
        }
    }
}

/// A private temporary file, deleted with this object.
private final class TemporaryFile {
    let path: String

    init(_ text: String) throws(SystemCallError) {
        let folder = OwnProcess.environment["TMPDIR"] ?? "/tmp"
        var template = Array("\(folder)/quickconnect-script-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw SystemCallError("mkstemp") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let code = Descriptor.write(text, to: descriptor)
        close(descriptor)
        guard code == 0 else {
            unlink(path)
            throw SystemCallError("write", code)
        }
    }

    deinit { unlink(path) }
}
