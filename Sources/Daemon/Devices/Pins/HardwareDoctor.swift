internal import Concurrency
package import QuickConnect

/// What the doctor says of the values that are bound to hardware.
package struct HardwareDoctor: Examined {
    let hardware: BoundHardware
    /// Whether the service starts with the machine; outputs that nobody calls would wait for it.
    let startsAtBoot: @Sendable () -> Bool
    private static let maxFindings = 20

    package init(hardware: BoundHardware, startsAtBoot: @escaping @Sendable () -> Bool) {
        (self.hardware, self.startsAtBoot) = (hardware, startsAtBoot)
    }

    /// Each that is missing, with the command that helps; else that all are there.
    package func examine(thoroughly _: Bool) async -> [Finding] {
        let declared = hardware.declared
        guard !declared.isEmpty else { return [] }
        for name in declared.filter({ $0.value.isInput }).keys {
            _ = try? await hardware.read(name).value(before: .now + .seconds(3))
        }
        var findings: [Finding] = []
        if declared.contains(where: { !$0.value.isInput }), !startsAtBoot() {
            let says =
                "outputs have their defaults only once somebody has connected, because the service does not start with the machine"
            findings.append(Finding("hardware", .warning, says, fix: "sudo systemctl enable quickconnectd.service"))
        }
        let lacks = await hardware.lacks().sorted { $0.key < $1.key }
        guard !lacks.isEmpty || !findings.isEmpty else {
            let noun = declared.count == 1 ? "value is" : "values are"
            return [
                Finding(
                    "hardware",
                    .ok,
                    "\(declared.count) \(noun) bound to lines, lights or sensors, and all are there"
                )
            ]
        }
        findings += lacks.prefix(Self.maxFindings).map { Finding("hardware", of: $0.key, $0.value) }
        let rest = lacks.count - Self.maxFindings
        if rest > 0 { findings.append(Finding("hardware", .error, "\(rest) more bound values are missing")) }
        return findings
    }
}
