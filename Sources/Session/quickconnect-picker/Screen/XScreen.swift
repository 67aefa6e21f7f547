import Linux

/// An X server: power by DPMS, rotation by RandR, which turns what is touched, too.
struct XScreen: ScreenWay {
    let name = "X server"
    let parts: Set<ScreenPart> = [.on, .rotation]
    let programs: ScreenProgram
    private static let package = "x11-xserver-utils"

    func read(_ part: ScreenPart) async throws(PlainError) -> Double {
        guard part == .on else { return try await output().rotation }
        let text = try await programs.run("xset", ["q"], package: Self.package)
        guard text.contains("DPMS ("), !text.contains("not have the DPMS Extension") else {
            throw PlainError("it does not know DPMS")
        }
        // The line «Monitor is …» is there while DPMS is enabled; else the monitor is on.
        let sleeps = ["Off", "in Suspend", "in Standby"].contains { text.contains("Monitor is \($0)") }
        return sleeps ? 0 : 1
    }

    func set(_ part: ScreenPart, _ value: Double) async throws(PlainError) {
        guard part == .rotation else {
            // DPMS gets enabled by this, and must not switch off by itself later.
            _ = try await programs.run("xset", ["dpms", "0", "0", "0"], package: Self.package)
            _ = try await programs.run("xset", ["dpms", "force", value == 1 ? "on" : "off"], package: Self.package)
            return
        }
        let (output, word) = (try await output().name, Self.words[Int(value) / 90])
        _ = try await programs.run("xrandr", ["--output", output, "--rotate", word], package: Self.package)
        do throws(PlainError) { try await turnTouch(to: output) } catch {
            throw PlainError("the picture is turned, and what is touched is not: \(error)")
        }
    }

    /// xrandr's words for each quarter clockwise.
    private static let words = ["normal", "right", "inverted", "left"]

    /// The primary monitor, or else the first that shows something.
    private func output() async throws(PlainError) -> (name: String, rotation: Double) {
        let text = try await programs.run("xrandr", ["--query"], package: Self.package)
        // `HDMI-1 connected primary 1080x1920+0+0 left (normal left inverted right …) …`: the words in parentheses
        // are those that it knows.
        let outputs = text.split(separator: "\n").map { $0.split(separator: " ") }.filter { words in
            words.count > 2 && words[1] == "connected" && words.contains { $0.contains("x") && $0.contains("+") }
        }
        guard let words = outputs.first(where: { $0[2] == "primary" }) ?? outputs.first,
            let list = words.dropFirst().firstIndex(where: { $0.hasPrefix("(") })
        else { throw PlainError("no monitor of it can be turned") }
        let turned = words[..<list].dropFirst(2).lazy.compactMap { Self.words.firstIndex(of: String($0)) }.first
        return (String(words[0]), Double(90 * (turned ?? 0)))
    }

    /// What lies on the glass. A machine without xinput has no such thing, or its owner turns it.
    private func turnTouch(to output: String) async throws(PlainError) {
        guard Program.isInPath("xinput", programs.environment) else { return }
        let devices = try await programs.run("xinput", ["list", "--id-only"], package: "xinput")
        // Those with an id alone; «∼» marks one that is disabled.
        for id in devices.split(separator: "\n").compactMap({ Int($0) }) {
            guard let text = try? await programs.run("xinput", ["list", "--long", "\(id)"], package: "xinput"),
                text.contains("Touch mode: direct")
            else { continue }
            _ = try await programs.run("xinput", ["map-to-output", "\(id)", output], package: "xinput")
        }
    }
}
