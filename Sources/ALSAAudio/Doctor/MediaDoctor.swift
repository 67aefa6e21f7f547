internal import Glibc
public import MediaFolder
public import QuickConnect

/// Looks at the media folder and at its disk.
public struct MediaDoctor: Examined {
    private let folder: MediaFolder
    private let settings: ALSARecorder.Settings

    public init(folder: MediaFolder, settings: ALSARecorder.Settings) {
        self.folder = folder
        self.settings = settings
    }

    public func examine(thoroughly isThorough: Bool) async -> [Finding] { [finding] }

    private var finding: Finding {
        let subject = "media folder"
        let user = Permissions.user
        guard access(folder.path, F_OK) == 0 else {
            let says = "\(folder.path) is not there yet; the first recording makes it where it may"
            return Finding(
                subject,
                mayBeMade ? .note : .fault,
                says,
                mend: "sudo install -d -o \(user) -m 770 \(folder.path.shellWord)"
            )
        }
        guard folder.isWritable else {
            let says = "\(folder.path) cannot be written by \(user)"
            return Finding(subject, .fault, says, mend: "sudo chown \(user) \(folder.path.shellWord)")
        }
        do throws(CommandError) { try folder.check() } catch {
            return Finding(subject, error, mend: "ls -ld \(folder.path.shellWord)")
        }
        guard let space = folder.space else { return Finding(subject, .note, "\(folder.path) has no file system") }
        let reserve = settings.reserve(of: space.total)
        let says = "\(folder.path): \(space.free.inMegabytes) MB are free, of which \(reserve.inMegabytes) MB stay so"
        guard space.free >= reserve else {
            return Finding(subject, .fault, says, mend: "du -ah \(folder.path.shellWord) | sort -h | tail")
        }
        return Finding(subject, .well, says)
    }

    /// Whether the nearest folder above that exists can be written.
    private var mayBeMade: Bool {
        var path = folder.path[...]
        while let slash = path.lastIndex(of: "/") {
            path = path[..<slash]
            let above = path.isEmpty ? "/" : String(path)
            if access(above, F_OK) == 0 { return access(above, W_OK | X_OK) == 0 }
        }
        return false
    }
}
