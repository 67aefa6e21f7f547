import JSON
import QuickConnect

/// `doctor [what]`: checks every device now; with `sound` it also plays a tone and records it.
struct DoctorBCO: WaitingBCO {
    let touchesDevice = true
    private let parts: [any Examined]

    init(_ parts: [any Examined]) { self.parts = parts }

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        let isThorough = call.string(0) == "sound"
        return .wait { () async throws(CommandError) in
            .result(await DoctorReport(of: parts, thoroughly: isThorough).json)
        }
    }
}
