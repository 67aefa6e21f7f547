import Linux

/// A monitor's own brightness, by DDC over its cable.
///
/// Its power is not taken: a monitor that was put to sleep that way is woken by the question how it is, or answers
/// nothing any more.
struct MonitorBus: ScreenWay {
    let name = "monitor"
    let parts: Set<ScreenPart> = [.brightness]
    let programs: ScreenProgram

    func read(_ part: ScreenPart) async throws(PlainError) -> Double {
        let (now, most) = try await levels()
        return 100 * Double(now) / Double(most)
    }

    func set(_ part: ScreenPart, _ value: Double) async throws(PlainError) {
        let level = Int((value / 100 * Double(try await levels().most)).rounded())
        _ = try await programs.run("ddcutil", ["setvcp", "10", "\(level)"], package: "ddcutil")
    }

    /// The present and the highest value, of the line `VCP 10 C 75 100`. They have 16 bits.
    private func levels() async throws(PlainError) -> (now: UInt16, most: UInt16) {
        let text = try await programs.run("ddcutil", ["--brief", "getvcp", "10"], package: "ddcutil")
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count >= 5, words.starts(with: ["VCP", "10", "C"]) else { continue }
            if let now = UInt16(words[3]), let most = UInt16(words[4]), most > 0 { return (now, most) }
        }
        throw PlainError("ddcutil says «\(text.prefix { $0 != "\n" }.prefix(80))»")
    }
}
