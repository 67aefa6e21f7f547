import Linux

/// A Wayland compositor of the wlroots family: power by wlr-output-power, rotation by wlr-output-management.
///
/// `wlr-randr --off` is not taken for power: it removes the monitor, and some compositors then end the session.
struct WaylandScreen: ScreenWay {
    let name = "compositor"
    let programs: ScreenProgram

    func state() async throws(ScreenFailure) -> ScreenState {
        let (power, output) = (await power(), await output())
        guard power != nil || output != nil else {
            throw ScreenFailure("it answers neither wlopm nor wlr-randr (apt install wlopm wlr-randr)")
        }
        return ScreenState(isOn: power, rotation: output?.rotation)
    }

    func set(_ change: ScreenState) async throws(ScreenFailure) {
        if let isOn = change.isOn {
            _ = try await programs.run("wlopm", isOn ? "--on" : "--off", "*", package: "wlopm")
        }
        if let rotation = change.rotation, let output = await output() {
            // Its transforms turn the other way round.
            let word = rotation == 0 ? "normal" : "\(360 - rotation)"
            _ = try await programs.run("wlr-randr", "--output", output.name, "--transform", word, package: "wlr-randr")
        }
    }

    /// Whether a monitor is on: `HDMI-A-1 on`.
    private func power() async -> Bool? {
        guard let text = try? await programs.run("wlopm", package: "wlopm") else { return nil }
        let states = text.split(separator: "\n").compactMap { $0.split(separator: " ").last }
        return states.isEmpty ? nil : states.contains("on")
    }

    /// The first monitor that shows something.
    private func output() async -> (name: String, rotation: Int)? {
        guard let text = try? await programs.run("wlr-randr", package: "wlr-randr") else { return nil }
        var (name, isEnabled) = ("", false)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if !line.hasPrefix(" ") { (name, isEnabled) = (words.first.map(String.init) ?? "", false) }
            if words.starts(with: ["Enabled:", "yes"]) { isEnabled = true }
            if isEnabled, words.count > 1, words[0] == "Transform:" {
                return (name, (360 - (Int(words[1].replacing("flipped-", with: "")) ?? 0)) % 360)
            }
        }
        return nil
    }
}
