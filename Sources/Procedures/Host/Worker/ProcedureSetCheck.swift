internal import CLinux
internal import Configuration
internal import Glibc
internal import JavaScriptCore
internal import Linux

/// Parses a folder of untrusted files, without running them.
package enum ProcedureSetCheck {
    /// Parsing takes seconds; a file that takes longer is malicious.
    private static let maxSeconds: UInt32 = 300

    /// - Returns: the first mistake, in words; nil if all files are valid procedures or libraries.
    package static func run(_ folder: String) -> String? {
        qc_end_with_parent(getppid())
        alarm(maxSeconds)
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
        do throws(SystemCallError) {
            try Confinement(readable: [folder]).enter()
        } catch {
            return "its parser cannot be confined: \(error)"
        }
        guard let machine = JSVirtualMachine() else { return "there is not enough memory to parse it" }
        let shared = (FileText.names(in: "\(folder)/lib") ?? []).map { "lib/\($0)" }
        for name in (FileText.names(in: folder) ?? []) + shared where ProcedureName.isFile(name) {
            if let mistake = mistake(in: name, folder, machine) { return "\(name): \(mistake)" }
            machine.collectGarbage()
        }
        return nil
    }

    private static func mistake(in name: String, _ folder: String, _ machine: JSVirtualMachine) -> String? {
        let text: String
        switch FileText.read("\(folder)/\(name)", maximumBytes: ProcedureSettings.fileBytes) {
        case .failure(let problem): return problem.message
        case .success(let read): text = read
        }
        guard let context = JSContext(virtualMachine: machine) else { return "there is not enough memory to parse it" }
        if let mistake = context.mistake(in: text, sourceURL: name) {
            let place = [mistake.line.map { "line \($0)" }, mistake.column.map { "column \($0)" }].compactMap { $0 }
            let at = place.isEmpty ? "" : " (\(place.joined(separator: ", ")))"
            return "\(mistake.name ?? "SyntaxError"): \(mistake.message)\(at)"
        }
        // Such as the "OK" of a proxy between this device and the server.
        return isExecutable(text, name) ? nil : "it has no function execute"
    }

    /// Whether a text, which is not run, may have a function `execute`, or needs none because it is a library.
    static func isExecutable(_ text: String, _ name: String) -> Bool {
        // Bytes, because a MiB of characters takes a tenth of a second, in which the host answers nobody.
        ProcedureName.isShared(name) || strstr(text, "execute") != nil || strstr(text, "load(") != nil
    }
}
