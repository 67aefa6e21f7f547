import Linux

/// An X server: power by DPMS, rotation by RandR, which turns what is touched, too.
struct XScreen: ScreenWay {
    let name = "X server"
    let programs: ScreenProgram

    func state() async throws(ScreenFailure) -> ScreenState {
        let power = try await programs.run("xset", "q", package: "x11-xserver-utils")
        var state = ScreenState(rotation: try await output()?.rotation)
        // The line «Monitor is …» is there while DPMS is enabled; else the monitor is on.
        if !power.contains("not have the DPMS Extension"), power.contains("DPMS (") {
            state.isOn = !["Monitor is Off", "Monitor is in Suspend", "Monitor is in Standby"].contains(
                where: power.contains
            )
        }
        return state
    }

    func set(_ change: ScreenState) async throws(ScreenFailure) {
        if let isOn = change.isOn {
            // DPMS gets enabled by this, and must not switch off by itself later.
            _ = try await programs.run("xset", "dpms", "0", "0", "0", package: "x11-xserver-utils")
            _ = try await programs.run("xset", "dpms", "force", isOn ? "on" : "off", package: "x11-xserver-utils")
        }
        if let rotation = change.rotation, let output = try await output() {
            let word = Self.words[rotation / 90]
            _ = try await programs.run(
                "xrandr",
                "--output",
                output.name,
                "--rotate",
                word,
                package: "x11-xserver-utils"
            )
            try await turnTouch(to: output.name)
        }
    }

    /// xrandr's words for each quarter clockwise.
    private static let words = ["normal", "right", "inverted", "left"]

    /// The primary monitor, or else the first that shows something, if it can be turned.
    private func output() async throws(ScreenFailure) -> (name: String, rotation: Int)? {
        let text = try await programs.run("xrandr", "--query", package: "x11-xserver-utils")
        // `HDMI-1 connected primary 1080x1920+0+0 left (normal left inverted right …) …`: the words in parentheses
        // are those that it knows.
        let outputs = text.split(separator: "\n").map { $0.split(separator: " ") }.filter { words in
            words.count > 2 && words[1] == "connected" && words.contains { $0.contains("x") && $0.contains("+") }
        }
        guard let words = outputs.first(where: { $0[2] == "primary" }) ?? outputs.first,
            let list = words.firstIndex(where: { $0.hasPrefix("(") })
        else { return nil }
        return (String(words[0]), 90 * (Self.words.firstIndex(of: String(words[list - 1])) ?? 0))
    }

    /// What lies on the glass. A machine without xinput has no such thing, or its owner turns it.
    private func turnTouch(to output: String) async throws(ScreenFailure) {
        guard Program.isInPath("xinput", programs.environment) else { return }
        let devices = try await programs.run("xinput", "list", "--id-only", package: "xinput")
        for device in devices.split(separator: "\n") {
            // Those with an id alone; «∼» marks one that is disabled.
            guard let id = Int(device),
                let text = try? await programs.run("xinput", "list", "--long", "\(id)", package: "xinput"),
                text.contains("Touch mode: direct")
            else { continue }
            _ = try await programs.run("xinput", "map-to-output", "\(id)", output, package: "xinput")
        }
    }
}
