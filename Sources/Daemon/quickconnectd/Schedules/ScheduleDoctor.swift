import Calendar
import Glibc
import QuickConnect

/// What keeps schedules from running: a clock that is not set, a position that nobody knows, a service that does not start by
/// itself; and which failed the last time. Says nothing where no schedule is declared.
struct ScheduleDoctor: Examined {
    let scheduler: Scheduler
    /// Whether this is systemd's service.
    let isService: Bool

    private static let subject = "schedules"
    private static let links = [
        "/etc/systemd/system/multi-user.target.wants/quickconnectd.service",
        "/etc/systemd/system/default.target.wants/quickconnectd.service",
    ]

    /// Whether the service starts with the machine.
    static var startsAtBoot: Bool { links.contains { access($0, F_OK) == 0 } }

    func examine(thoroughly isThorough: Bool) async -> [Finding] {
        let trouble = scheduler.condition
        guard trouble.count > 0 else { return [] }
        guard trouble.isClockSet else { return [clock(trouble)] }
        var findings: [Finding] = []
        if trouble.lacksPlace {
            let says = """
                nobody knows where the device is, so that its sunrise has no time: give its position in the settings, \
                position: {latitude: 53.35, longitude: -6.26}
                """
            findings.append(Finding(Self.subject, .warning, says, inspect: "quickconnect schedules"))
        }
        if isService, !Self.startsAtBoot {
            let says = """
                schedules run only once somebody has connected, because the service does not start with the machine
                """
            findings.append(Finding(Self.subject, .warning, says, fix: "sudo systemctl enable quickconnectd.service"))
        }
        findings += trouble.failures.map { failure in
            let time = LocalZone().moment(at: failure.at).text
            // Whoever may ask the doctor may not read what the command says to its callers; the log has it.
            let says = "the last run of '\(failure.name)', at \(time), failed: \(failure.code)"
            return Finding(Self.subject, .warning, says, inspect: "quickconnect schedules")
        }
        guard findings.isEmpty else { return findings }
        let count = "\(trouble.count) schedule\(trouble.count == 1 ? "" : "s")"
        let next =
            trouble.next.map { "; the next is \($0.name), at \(LocalZone().moment(at: $0.at).text)" }
            ?? "; none is planned"
        return [Finding(Self.subject, .ok, count + next)]
    }

    private func clock(_ trouble: Scheduler.Condition) -> Finding {
        let clock = "the clock says \(LocalZone().moment(at: Scheduler.timeOfDay()).text)"
        guard let newest = trouble.newest else {
            let says = "\(clock), which cannot be right; schedules wait until it is set"
            return Finding(Self.subject, .warning, says, fix: "sudo timedatectl set-ntp true", inspect: "timedatectl")
        }
        let says = """
            \(clock), and has shown \(LocalZone().moment(at: newest.time).text) before; schedules wait until it is set. If it is right now: stop \
            the daemon, delete \(newest.path), and start it again
            """
        return Finding(Self.subject, .warning, says, inspect: "timedatectl")
    }
}
