internal import JSON
public import QuickConnect

/// The space that must stay free on the disk of the media folder, for recordings and uploads.
public struct DiskReserve: Sendable {
    /// Nil: 64 MiB, or a twentieth of a small disk.
    private let bytes: Int?

    public init(bytes: Int?) { self.bytes = bytes }

    /// - Parameter total: the bytes of the whole disk.
    public func bytes(of total: Int) -> Int { bytes ?? min(64 << 20, total / 20) }

    /// Why that many more bytes cannot be written, as `unavailable`; nil if they can. May block.
    public func problem(in folder: MediaFolder, adding more: Int = 0) -> CommandError? {
        guard let space = folder.space else { return nil }
        let reserve = bytes(of: space.total)
        guard space.free - more < reserve else { return nil }
        let text = "the disk is full: \(space.free.inMegabytes) MB are free, and \(reserve.inMegabytes) MB are kept so"
        return CommandError(.unavailable, text, details: ["reserveBytes": .integer(Int64(reserve))])
    }
}

extension Int {
    /// Bytes in megabytes of 2^20.
    package var inMegabytes: Double { (Double(self) / 1_048_576 * 10).rounded() / 10 }
}
