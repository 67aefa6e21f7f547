import Linux

/// The programs that the ways use. They are what desktops and their users take for this, and know each driver's ways.
struct ScreenProgram: Sendable {
    /// What finds the display, besides all else.
    let environment: [String: String]
    /// A monitor may take seconds to answer; one that hangs must not keep the others' ways closed.
    private static let limit = Duration.seconds(8)

    /// What a program prints, if it ends with status 0.
    /// - Parameter package: which has it.
    func run(_ program: String, _ arguments: [String], package: String) async throws(PlainError) -> String {
        guard Program.isInPath(program, environment) else {
            throw PlainError("\(program) is not installed (apt install \(package))")
        }
        let ending: RunningProgram.Ending
        do {
            ending = try await DialogProcess.run(program, arguments, environment, within: Self.limit)
        } catch {
            throw PlainError("\(program): \(error)")
        }
        guard ending.status == 0 else {
            let words = ending.errors.isEmpty ? ending.output : ending.errors
            let reason = words.split(separator: "\n").first.map { ": \($0)" } ?? ""
            throw PlainError("\(program) ended with status \(ending.status)\(reason)")
        }
        return ending.output
    }
}
