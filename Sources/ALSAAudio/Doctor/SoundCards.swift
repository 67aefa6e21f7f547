internal import CALSA
internal import Glibc
internal import QuickConnect

/// The sound cards that the kernel has.
enum SoundCards {
    /// Each as `0: PCH, HDA Intel PCH`.
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

    static var isEmpty: Bool { cards.isEmpty }

    static var description: String {
        let cards = cards
        return cards.isEmpty ? "sound cards: none" : "sound cards: \(cards.joined(separator: "; "))"
    }

    static var finding: Finding {
        let cards = cards
        guard !cards.isEmpty else {
            return Finding(
                "sound cards",
                .note,
                "the kernel has none; a sound server may have one elsewhere",
                mend: "aplay -l"
            )
        }
        guard Permissions.mayUseCards else {
            let says = "\(Permissions.description), so it may not use \(cards.joined(separator: "; "))"
            return Finding("sound cards", .fault, says, mend: "sudo usermod -aG audio \(Permissions.user)")
        }
        return Finding("sound cards", .well, cards.joined(separator: "; "))
    }
}

/// Who this process is.
enum Permissions {
    static var user: String {
        guard let entry = getpwuid(geteuid()) else { return "\(geteuid())" }
        return String(cString: entry.pointee.pw_name)
    }

    private static var groups: [String] {
        var ids = [gid_t](repeating: 0, count: 1024)
        let count = getgroups(Int32(ids.count), &ids)
        return Set(ids.prefix(max(0, Int(count))) + [getegid()]).sorted().map { id in
            getgrgid(id).map { String(cString: $0.pointee.gr_name) } ?? "\(id)"
        }
    }

    static var description: String { "the user is \(user), in the groups \(groups.joined(separator: ", "))" }

    /// Whether every control device of the kernel can be opened.
    static var mayUseCards: Bool {
        let devices = fileNames(in: "/dev/snd")?.filter { $0.hasPrefix("control") } ?? []
        return devices.allSatisfy { access("/dev/snd/\($0)", R_OK | W_OK) == 0 }
    }
}
