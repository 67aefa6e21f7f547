import Glibc
import Linux

/// The programs that are installed with this one.
enum OwnPrograms {
    /// A program beside this one, or in `../libexec/quickconnect`; else its name alone, for `PATH`.
    static func path(_ name: String) -> String {
        let own = OwnProcess.program
        guard let slash = own.lastIndex(of: "/") else { return name }
        let folder = own[..<slash]
        let candidates = ["\(folder)/\(name)", "\(folder)/../libexec/quickconnect/\(name)"]
        return candidates.first { access($0, X_OK) == 0 } ?? name
    }
}
