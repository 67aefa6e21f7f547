internal import CALSA
internal import Glibc
internal import QuickConnect

/// The kernel's sound cards at the time of the check.
struct SoundCards {
    /// Each in the form `0: PCH, HDA Intel PCH`.
    private let names: [String]
    /// Whether this process may open every control device.
    let areUsable: Bool

    init() {
        names = Self.cards
        let devices = fileNames(in: "/dev/snd")?.filter { $0.hasPrefix("control") } ?? []
        areUsable = devices.allSatisfy { access("/dev/snd/\($0)", R_OK | W_OK) == 0 }
    }

    private static var cards: [String] {
        var cards: [String] = []
        var card: Int32 = -1
        while snd_card_next(&card) == 0, card >= 0 {
            var name: UnsafeMutablePointer<CChar>?
            guard snd_card_get_name(card, &name) == 0, let name else { continue }
            cards.append("\(card): \(String(cString: name))")
            free(name)
        }
        return cards
    }

    var isEmpty: Bool { names.isEmpty }

    private var list: String { names.joined(separator: "; ") }

    var description: String { isEmpty ? "sound cards: none" : "sound cards: \(list)" }

    func finding(_ account: OwnAccount) -> Finding {
        let subject = "sound cards"
        guard !isEmpty else {
            let says = "the kernel has no sound card; a sound server may still offer one, over the network for example"
            return Finding(subject, .warning, says, inspect: "aplay -l")
        }
        guard areUsable else {
            let says = "\(account), has no access to \(list)"
            return Finding(subject, .error, says, fix: account.joiningAudio)
        }
        return Finding(subject, .ok, list)
    }
}

extension OwnAccount {
    /// The command that gives this user access to sound cards.
    var joiningAudio: String { "sudo usermod -aG audio \(user.shellWord)" }
}
