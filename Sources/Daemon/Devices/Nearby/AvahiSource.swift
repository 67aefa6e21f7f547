internal import CAvahi
internal import Glibc
internal import JSON
internal import QuickConnect

/// The Avahi daemon of this device, through libavahi-client, which reaches it over the system bus.
struct AvahiSource: ServiceSource {
    let description = "Avahi"
    /// The path of the daemon if it is installed.
    var program = "/usr/sbin/avahi-daemon"

    func open() throws(CommandError) -> any ServiceStream {
        do throws(AvahiError) { return try AvahiStream() } catch { throw unavailable(error) }
    }

    func examine() -> Finding {
        do throws(AvahiError) {
            return Finding("nearby", .ok, "\(try AvahiStream().version) answers")
        } catch {
            let finding = Finding("nearby", unavailable(error), tried: ["\(error)"])
            return isInstalled ? finding : Finding("nearby", .warning, finding.says, fix: finding.fix)
        }
    }

    private var isInstalled: Bool { access(program, X_OK) == 0 }

    private func unavailable(_ error: AvahiError) -> CommandError {
        let (what, fix) =
            switch error.code {
            case _ where !isInstalled: ("is not installed on this device", "sudo apt-get install avahi-daemon")
            case AVAHI_ERR_NO_DAEMON: ("does not run", "sudo systemctl start avahi-daemon")
            default: ("cannot be reached: \(error)", "sudo systemctl restart dbus avahi-daemon")
            }
        return CommandError(.unavailable, "Avahi \(what); fix it with: \(fix)", details: ["fix": .string(fix)])
    }
}

/// The error of a call to libavahi-client.
struct AvahiError: Error, CustomStringConvertible {
    let call: String
    let code: Int

    init(_ call: String, _ code: Int32) { (self.call, self.code) = (call, Int(code)) }

    var description: String { "\(call): \(String(cString: avahi_strerror(Int32(code)))) (\(code))" }
}
