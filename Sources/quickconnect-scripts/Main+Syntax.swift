import Glibc
import JSON
import Linux
import MacroEngine

extension QuickConnectScripts {
    /// Parsing takes milliseconds; a text that takes longer is malicious.
    private static let mostSeconds: UInt32 = 10

    /// Parses a script without running it, and prints `null`, or {message, line?, column?, source?}.
    /// - Returns: the exit status: 0, even if there is a mistake; 1 if the file cannot be read.
    static func checkScript(_ path: String) -> Int32 {
        alarm(mostSeconds)
        switch FileText.read(path, maximumBytes: 4 << 20) {
        case .failure(let problem):
            Descriptor.write("quickconnect-scripts: \(path) \(problem.message)\n", to: STDERR_FILENO)
            return 1
        case .success(let text):
            do throws(SystemCallError) {
                try Confinement().enter()
            } catch {
                Descriptor.write("quickconnect-scripts: it cannot be confined: \(error)\n", to: STDERR_FILENO)
                return 1
            }
            let mistake = ScriptSyntax.mistake(in: text)
            Descriptor.write("\(mistake.map(json)?.text ?? "null")\n", to: STDOUT_FILENO)
            return 0
        }
    }

    private static func json(_ mistake: MacroError) -> JSONValue {
        var members: JSONObject = ["message": .string(mistake.message)]
        members["line"] = mistake.line.map { .integer(Int64($0)) }
        members["column"] = mistake.column.map { .integer(Int64($0)) }
        members["source"] = mistake.source.map { .string(String($0.prefix(200))) }
        return .object(members)
    }
}
