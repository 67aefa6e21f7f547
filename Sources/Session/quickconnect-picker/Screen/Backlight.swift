import Glibc
import Linux

/// The light of a panel: its brightness. By the kernel's file, where this user may write it, else by logind, which allows
/// it to who sits in front of the screen.
struct Backlight: ScreenWay {
    let name = "backlight"
    /// `/sys/class/backlight`.
    let folder: String
    let programs: ScreenProgram

    /// A device of it. Firmware knows the panel best, then the platform; a raw one is what a graphics driver offers.
    private func device() throws(ScreenFailure) -> String {
        let devices = (FileText.names(in: folder) ?? []).sorted()
        for type in ["firmware", "platform", "raw"] {
            if let device = devices.first(where: { text("type", of: $0) == type }) { return device }
        }
        throw ScreenFailure("\(folder) has no device")
    }

    private func text(_ file: String, of device: String) -> String? {
        (try? FileText.exact("\(folder)/\(device)/\(file)", maximumBytes: 64).get())?.split(
            whereSeparator: \.isWhitespace
        )
        .first.map(String.init)
    }

    private func number(_ file: String, of device: String) throws(ScreenFailure) -> Double {
        guard let number = text(file, of: device).flatMap(Double.init) else {
            throw ScreenFailure("\(folder)/\(device)/\(file) has no number")
        }
        return number
    }

    func state() async throws(ScreenFailure) -> ScreenState {
        let device = try device()
        let most = try number("max_brightness", of: device)
        guard most > 0 else { throw ScreenFailure("\(device) knows no brightness") }
        return ScreenState(brightness: 100 * (try number("brightness", of: device)) / most)
    }

    func set(_ change: ScreenState) async throws(ScreenFailure) {
        guard let brightness = change.brightness else { return }
        let device = try device()
        // 0 switches some panels off, and nobody finds the way back.
        let level = max(1, Int((brightness / 100 * (try number("max_brightness", of: device))).rounded()))
        if write(level, of: device) { return }
        _ = try await programs.run(
            "busctl",
            "call",
            "org.freedesktop.login1",
            "/org/freedesktop/login1/session/auto",
            "org.freedesktop.login1.Session",
            "SetBrightness",
            "ssu",
            "backlight",
            device,
            "\(level)",
            package: "systemd"
        )
    }

    private func write(_ level: Int, of device: String) -> Bool {
        let descriptor = open("\(folder)/\(device)/brightness", O_WRONLY | O_TRUNC | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return Descriptor.write("\(level)", to: descriptor) == 0
    }
}
