import Foundation
import TestRig

/// An X server without a screen, and a hand that types and clicks there.
final class VirtualDisplay: Sendable {
    let name: String
    private let server: ChildProcess
    private let folder: TestFolder

    static let programs = ["Xvfb", "xdotool", "zenity"]
    static var isPossible: Bool { programs.allSatisfy(ChildProcess.isInstalled) }

    init() async throws {
        let folder = try TestFolder()
        // The server writes the number that it has found free to standard output.
        // Else it begins anew, without the windows of then, when the hand lets go before the dialog has come.
        let server = try ChildProcess(
            "Xvfb",
            ["-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp", "-noreset"]
        )
        try await eventually("the display is there") {
            if server.poll() != nil { throw NotInTime(description: "Xvfb ended") }
            return server.standardOutput.contains(UInt8(ascii: "\n"))
        }
        let number = String(decoding: server.standardOutput, as: UTF8.self).split(separator: "\n").first ?? ""
        (name, self.server, self.folder) = (":\(number)", server, folder)
    }

    var environment: [String: String] {
        ["DISPLAY": name, "NO_AT_BRIDGE": "1", "HOME": folder("home"), "XDG_RUNTIME_DIR": folder.path]
    }

    func end() async throws {
        server.send(SIGTERM)
        try await server.wait()
    }

    /// What xdotool prints.
    @discardableResult
    func hand(_ words: String...) async throws -> String {
        let environment = ["PATH": "/usr/bin:/bin", "DISPLAY": name]
        return try await ChildProcess.run("xdotool", words, environment: environment).output
    }

    /// The window of that title that can be seen; nil where there is none.
    func window(_ title: String) async throws -> String? {
        try await hand("search", "--onlyvisible", "--name", title).split(separator: "\n").last.map(String.init)
    }

    /// Waits for a dialog, and lets it have the keys: there is no window manager to do so.
    func focus(_ title: String) async throws -> String {
        var found = ""
        try await eventually("the dialog \(title)") {
            found = try await window(title) ?? ""
            return !found.isEmpty
        }
        try await hand("windowfocus", "--sync", found)
        return found
    }

    /// Presses keys until the dialog is gone: one that has only just opened may not hear the first.
    func answer(_ title: String, keys: String...) async throws {
        _ = try await focus(title)
        try await eventually("the dialog \(title) closes") {
            guard let window = try await window(title) else { return true }
            try await hand("windowfocus", window)
            for key in keys { try await hand("key", key) }
            // Not every program's fields take Return for OK.
            if keys == ["Return"] { try await clickOK(window) }
            // Sleeps while it closes.
            try await Task.sleep(for: .milliseconds(300))
            return try await self.window(title) == nil
        }
    }

    /// The button at the lower right.
    private func clickOK(_ window: String) async throws {
        // Sleeps while it is laid out.
        try await Task.sleep(for: .milliseconds(300))
        let lines = try await hand("getwindowgeometry", "--shell", window).split(separator: "\n")
        func value(_ name: String) -> Int? {
            lines.first { $0.hasPrefix("\(name)=") }.flatMap { Int($0.dropFirst(name.count + 1)) }
        }
        guard let width = value("WIDTH"), let height = value("HEIGHT") else { return }
        try await hand("mousemove", "--window", window, "\(width - 50)", "\(height - 20)", "click", "1")
    }

    func awaitNone(_ title: String) async throws {
        try await eventually("no dialog \(title)") { try await window(title) == nil }
    }
}
