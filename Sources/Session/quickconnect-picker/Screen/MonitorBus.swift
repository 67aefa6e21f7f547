/// A monitor's own brightness, by DDC over its cable.
///
/// Its power is not taken: a monitor that was put to sleep that way is woken by the question how it is, or answers
/// nothing any more.
struct MonitorBus: ScreenWay {
    let name = "monitor"
    let programs: ScreenProgram

    func state() async throws(ScreenFailure) -> ScreenState {
        // `VCP 10 C 75 100`: the present and the highest value.
        let text = try await programs.run("ddcutil", "--brief", "getvcp", "10", package: "ddcutil")
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count >= 5, words[2] == "C", let now = Double(words[3]), let most = Double(words[4]), most > 0
        else {
            throw ScreenFailure("ddcutil says «\(words.prefix(9).joined(separator: " "))»")
        }
        return ScreenState(brightness: 100 * now / most)
    }

    func set(_ change: ScreenState) async throws(ScreenFailure) {
        guard let brightness = change.brightness else { return }
        let text = try await programs.run("ddcutil", "--brief", "getvcp", "10", package: "ddcutil")
        let most = text.split(whereSeparator: \.isWhitespace).last.flatMap { Double($0) } ?? 100
        let level = "\(Int((brightness / 100 * most).rounded()))"
        _ = try await programs.run("ddcutil", "setvcp", "10", level, package: "ddcutil")
    }
}
