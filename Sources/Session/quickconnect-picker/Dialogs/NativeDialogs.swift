import Concurrency
import JSON
import Linux
import QuickConnect
import QuickConnectClient
import Synchronization

/// Shows dialogs by programs of the desktop.
final class NativeDialogs: DialogShower {
    private let display: Display
    private let environment: [String: String]
    private let gone = Deferred<String, Interruption>()
    /// How often a person may give an invalid answer.
    private static let maxTries = 10

    init(_ display: Display, _ environment: [String: String]) {
        self.display = display
        let others = environment.filter { $0.key != "DISPLAY" && $0.key != "WAYLAND_DISPLAY" }
        self.environment = others.merging(display.variables) { _, last in last }
    }

    private func isInstalled(_ program: String) -> Bool { Program.isInPath(program, environment) }

    func displayIsGone() async -> String? { try? await gone.value() }

    func show(_ dialog: Dialog) async throws -> [JSONValue] {
        guard let way = dialog.ways.first(where: { isInstalled($0.program) }) else {
            let programs = dialog.ways.map(\.program).joined(separator: " or ")
            throw HandlerCall.Failure(
                .unsupported,
                "this dialog needs \(programs) (apt install \(dialog.ways[0].program))"
            )
        }
        var output = ""
        for _ in 0..<Self.maxTries {
            output = try await answer(way)
            if let results = way.text(output).flatMap(dialog.results) { return results }
        }
        throw HandlerCall.Failure(.unavailable, "\(way.program) answers «\(output)», which is not an answer")
    }

    /// What the program prints if the person has pressed OK. On a timeout it prints the same, with another status.
    private func answer(_ way: Dialog.Way) async throws -> String {
        let end = try await run(way)
        if let failure = await loss(end) {
            gone.fulfil(failure)
            throw HandlerCall.Failure(.unavailable, failure)
        }
        let output = end.output.split(separator: "\n", omittingEmptySubsequences: false).first.map(String.init) ?? ""
        switch end.status {
        case 0 where !output.isEmpty: return output
        case 0, 252: throw HandlerCall.Failure.closed
        case 1 where !end.errors.contains("cannot open display"): throw HandlerCall.Failure.closed
        default:
            let reason = end.errors.split(separator: "\n").last.map { ": \($0)" } ?? ""
            throw HandlerCall.Failure(.unavailable, "\(way.program) ended with status \(end.status)\(reason)")
        }
    }

    /// Why the display is gone, if that has ended the program: its status is then 1 or 0, as when a person cancels, and
    /// it may print an error.
    private func loss(_ end: RunningProgram.Ending) async -> String? {
        guard end.status != 0 || end.output.isEmpty else { return nil }
        if let failure = display.failure() { return failure }
        // A server closes its clients' connections before its own socket, and not every program says what has ended it.
        let looks = Self.complaints.contains(where: end.errors.contains) ? Self.looks : Self.looksWithoutComplaint
        for _ in 0..<looks where !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(50))
            if let failure = display.failure() { return failure }
        }
        return nil
    }

    /// Messages of GTK and Xlib, which are not translated.
    private static let complaints = ["from display", "open display", "X connection", "X server", "Wayland"]
    private static let looks = 40
    private static let looksWithoutComplaint = 4

    private func run(_ way: Dialog.Way) async throws -> RunningProgram.Ending {
        do throws(Interruption) {
            return try await DialogProcess.run(way.program, way.arguments, environment)
        } catch {
            if error.kind == .cancelled { throw CancellationError() }
            throw HandlerCall.Failure(.unavailable, "\(way.program) cannot be run: \(error)")
        }
    }
}
