import Linux

/// A Wayland compositor of the wlroots family: power by wlr-output-power, rotation by wlr-output-management.
///
/// `wlr-randr --off` is not taken for power: it removes the monitor, and some compositors then end the session.
struct WaylandScreen: ScreenWay {
    let name = "compositor"
    let parts: Set<ScreenPart> = [.on, .rotation]
    let programs: ScreenProgram

    func read(_ part: ScreenPart) async throws(PlainError) -> Double {
        guard part == .on else { return try await output().rotation }
        // `HDMI-A-1 on`
        let text = try await programs.run("wlopm", [], package: "wlopm")
        let states = text.split(separator: "\n").compactMap { $0.split(separator: " ").last }
        guard !states.isEmpty else { throw PlainError("it has no monitor") }
        return states.contains("on") ? 1 : 0
    }

    func set(_ part: ScreenPart, _ value: Double) async throws(PlainError) {
        guard part == .rotation else {
            _ = try await programs.run("wlopm", [value == 1 ? "--on" : "--off", "*"], package: "wlopm")
            return
        }
        // Its transforms turn the other way round.
        let word = value == 0 ? "normal" : "\(360 - Int(value))"
        let name = try await output().name
        _ = try await programs.run("wlr-randr", ["--output", name, "--transform", word], package: "wlr-randr")
    }

    /// The first monitor that shows something.
    private func output() async throws(PlainError) -> (name: String, rotation: Double) {
        let text = try await programs.run("wlr-randr", [], package: "wlr-randr")
        var (name, isEnabled) = ("", false)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if !line.hasPrefix(" ") { (name, isEnabled) = (words.first.map(String.init) ?? "", false) }
            if words.starts(with: ["Enabled:", "yes"]) { isEnabled = true }
            guard isEnabled, words.count > 1, words[0] == "Transform:" else { continue }
            let turned = Double(words[1].replacing("flipped-", with: "")) ?? 0
            return (name, turned == 0 ? 0 : 360 - turned)
        }
        throw PlainError("it has no monitor that can be turned")
    }
}
