internal import Glibc
internal import MediaFolder

/// The length of the sound in the header of a CAF file.
///
/// A file is `caff`, four bytes, then chunks of a type (4 bytes), a size (8 bytes, the highest first) and as many bytes
/// (Apple Core Audio Format Specification 1.0). If the size of `data` reaches beyond the end of the file, libsndfile
/// finds no sound at all. That happens if the header reached the disk before a power loss and the sound did not.
enum CAFLength {
    private static let chunkHeader = 12

    /// Reduces the size of the data to fit the file, if it is too large. Other files are left unchanged.
    static func mend(_ file: OpenFile) {
        var place = 8
        while let header = read(file, at: place), let size = size(header) {
            let end = place + chunkHeader + size
            if header.starts(with: Array("data".utf8)) {
                if end > file.bytes { write(file.bytes - place - chunkHeader, to: file, at: place + 4) }
                return
            }
            place = end
        }
    }

    private static func read(_ file: OpenFile, at place: Int) -> [UInt8]? {
        var header = [UInt8](repeating: 0, count: chunkHeader)
        return pread(file.descriptor, &header, chunkHeader, place) == chunkHeader ? header : nil
    }

    /// The size in a chunk's header; nil if it is not plausible.
    private static func size(_ header: [UInt8]) -> Int? {
        let size = header[4...].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return (0...(1 << 50)).contains(size) ? Int(size) : nil
    }

    private static func write(_ size: Int, to file: OpenFile, at place: Int) {
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: size >> (8 * (7 - $0))) }
        _ = pwrite(file.descriptor, bytes, bytes.count, place)
    }
}
