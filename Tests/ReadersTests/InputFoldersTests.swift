import Foundation
import QuickConnect
import TestRig
import Testing

@testable import Readers

/// Names of devices, in trees of files such as udev makes.
@Suite struct InputFoldersTests {
    private let folder: TestFolder
    private let folders: InputFolders

    init() throws {
        folder = try TestFolder()
        var folders = InputFolders()
        (folders.devices, folders.links) = (folder("input"), folder("links"))
        self.folders = folders
        for name in ["by-id/usb-Reader-event-kbd", "by-id/usb-Reader-mouse", "by-path/platform-keys-event"] {
            try make("input/\(name)")
        }
    }

    private func make(_ path: String) throws {
        let url = URL(fileURLWithPath: folder(path))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data().write(to: url)
    }

    private func error(_ name: String) -> CommandError? {
        do throws(CommandError) {
            _ = try InputDevice(name, in: folders) { _ in nil }
            return nil
        } catch {
            return error
        }
    }

    @Test func `the devices are those that have events`() {
        #expect(folders.names == ["platform-keys-event", "usb-Reader-event-kbd"])
    }

    @Test func `what is not there is unavailable`() {
        let error = error("usb-Other-event-kbd")
        #expect(error?.code == .unavailable)
        #expect(error?.message == "there is no input device usb-Other-event-kbd")
    }

    @Test(arguments: ["input\\x2fby-id\\x2fusb-Reader-event-kbd", "\\x2finput\\x2fby-id\\x2fusb-Reader-event-kbd"])
    func `a name that two devices ask for is refused`(link: String) throws {
        try make("links/\(link)/c13:64")
        #expect(error("usb-Reader-event-kbd")?.code == .unsupported)
        try make("links/\(link)/c13:65")
        let error = error("usb-Reader-event-kbd")
        #expect(error?.code == .invalid)
        #expect(
            error?.message.contains("2 input devices are named usb-Reader-event-kbd, and none of them is used") == true
        )
    }

    @Test func `a file is no input device`() {
        #expect(error("platform-keys-event")?.code == .unsupported)
    }
}
