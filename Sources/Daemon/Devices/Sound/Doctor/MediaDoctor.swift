internal import Glibc
internal import Linux
package import MediaFolder
package import QuickConnect

/// Checks the media folder and its disk.
package struct MediaDoctor: Examined {
    private let folder: MediaFolder
    private let probe: Probe<Finding>

    /// - Parameter account: the account of this process.
    package init(folder: MediaFolder, settings: ALSARecorder.Settings, account: OwnAccount) {
        self.folder = folder
        let look = MediaLook(folder: folder, settings: settings, account: account)
        probe = Probe("qc-disk-dr", "looking at \(folder.path)") { () throws(CommandError) in look.finding }
    }

    package func examine(thoroughly isThorough: Bool) async -> [Finding] {
        do throws(ProbeFailure) { return [try await probe.look()] } catch {
            return [Finding(MediaLook.subject, error.error, inspect: "findmnt -T \(folder.path.shellWord)")]
        }
    }
}

/// One check, which may block.
private struct MediaLook {
    let folder: MediaFolder
    let settings: ALSARecorder.Settings
    let account: OwnAccount

    static let subject = "media folder"

    var finding: Finding {
        let subject = Self.subject
        guard access(folder.path, F_OK) == 0 else { return missing }
        guard folder.isWritable else {
            let says = "\(account.user) cannot write to \(folder.path)"
            return Finding(subject, .error, says, fix: "sudo chown \(account.user.shellWord) \(folder.path.shellWord)")
        }
        do throws(CommandError) { try folder.check() } catch {
            return Finding(subject, error, inspect: "ls -ld \(folder.path.shellWord)")
        }
        guard let space = folder.space else {
            return Finding(subject, .warning, "the free space of \(folder.path) is unknown")
        }
        let reserve = settings.diskReserve.bytes(of: space.total)
        let says = "\(folder.path): \(space.free.inMegabytes) MB are free; \(reserve.inMegabytes) MB must stay free"
        guard space.free >= reserve else {
            return Finding(subject, .error, says, inspect: "du -ah \(folder.path.shellWord) | sort -h | tail")
        }
        return unnamable ?? Finding(subject, .ok, says)
    }

    /// What is in the folder and in no list.
    private var unnamable: Finding? {
        guard let names = try? folder.unnamable(), let first = names.first?.escapingControls else { return nil }
        let what =
            names.count == 1 ? "'\(first)' is in no list" : "'\(first)' and \(names.count - 1) more are in no list"
        let says = "\(what): a name is UTF-8 with an ending such as .wav, without control characters"
        return Finding(Self.subject, .warning, says, inspect: "ls -lRb \(folder.path.shellWord)")
    }

    private var missing: Finding {
        let fix = "sudo install -d -o \(account.user.shellWord) -m 770 \(folder.path.shellWord)"
        guard mayBeMade else {
            let says = "\(folder.path) does not exist, and \(account.user) may not create it"
            return Finding(Self.subject, .error, says, fix: fix)
        }
        let says = "\(folder.path) does not exist yet; the first recording creates it"
        return Finding(Self.subject, .warning, says, fix: fix)
    }

    /// Whether the folder could be created: the nearest existing folder above it is writable.
    private var mayBeMade: Bool {
        var path = folder.path[...]
        while let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
            path = path[..<slash]
            let above = path.isEmpty ? "/" : String(path)
            if access(above, F_OK) == 0 { return access(above, W_OK | X_OK) == 0 }
        }
        return false
    }
}
