import Glibc
import Linux

/// The light of a panel: its brightness. By the kernel's file, where this user may write it, else by logind, which allows
/// it to who sits in front of the screen.
struct Backlight: ScreenWay {
    let name = "backlight"
    let parts: Set<ScreenPart> = [.brightness]
    /// `/sys/class/backlight`.
    let folder: String
    let programs: ScreenProgram

    func read(_ part: ScreenPart) async throws(PlainError) -> Double {
        let device = try device()
        return 100 * Double(try level("brightness", of: device)) / Double(try most(of: device))
    }

    func set(_ part: ScreenPart, _ value: Double) async throws(PlainError) {
        let device = try device()
        // 0 switches some panels off, and nobody finds the way back.
        let level = max(1, Int((value / 100 * Double(try most(of: device))).rounded()))
        if write(level, of: device) { return }
        _ = try await programs.run(
            "busctl",
            [
                "call",
                "org.freedesktop.login1",
                "/org/freedesktop/login1/session/auto",
                "org.freedesktop.login1.Session",
                "SetBrightness",
                "ssu",
                "backlight",
                device,
                "\(level)",
            ],
            package: "systemd"
        )
    }

    /// Firmware knows the panel best, then the platform; a raw one is what a graphics driver offers.
    private func device() throws(PlainError) -> String {
        let devices = FileText.names(in: folder) ?? []
        for type in ["firmware", "platform", "raw"] {
            if let device = devices.first(where: { text("type", of: $0) == type }) { return device }
        }
        throw PlainError("\(folder) has no device")
    }

    private func text(_ file: String, of device: String) -> String? {
        (try? FileText.exact("\(folder)/\(device)/\(file)", maximumBytes: 64).get())?
            .split(whereSeparator: \.isWhitespace).first.map(String.init)
    }

    private func level(_ file: String, of device: String) throws(PlainError) -> UInt32 {
        guard let level = text(file, of: device).flatMap({ UInt32($0) }) else {
            throw PlainError("\(folder)/\(device)/\(file) has no level")
        }
        return level
    }

    private func most(of device: String) throws(PlainError) -> UInt32 {
        let most = try level("max_brightness", of: device)
        guard most > 0 else { throw PlainError("\(device) knows no brightness") }
        return most
    }

    private func write(_ level: Int, of device: String) -> Bool {
        let descriptor = open("\(folder)/\(device)/brightness", O_WRONLY | O_TRUNC | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return Descriptor.write("\(level)", to: descriptor) == 0
    }
}
