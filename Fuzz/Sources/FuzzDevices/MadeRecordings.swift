import Glibc

@testable import ALSAAudio
@testable import MediaFolder

/// Writes short recordings of each format, whole and cut off, for the fuzzer to begin with.
func makeRecordings(in folder: String) throws {
    mkdir(folder, 0o700)
    for (format, letter) in [(RecordingFormat.caf, "c"), (.wav, "w"), (.flac, "f"), (.opus, "o")] {
        let path = "\(folder)/\(format.rawValue)"
        let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let file = OpenFile(owning: descriptor)
        let writer = try SoundFileWriter(file, format, rate: 8000, channels: 1)
        try writer.write((0..<800).map { Int16(($0 % 40 - 20) * 300) })
        try writer.close()
        var bytes = [UInt8](repeating: 0, count: file.bytes)
        pread(descriptor, &bytes, bytes.count, 0)
        let whole = Array(letter.utf8) + bytes
        for (name, part) in [("", whole[...]), ("-cut", whole.dropLast(300)), ("-short", whole.prefix(60))] {
            let copy = open("\(path)\(name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            _ = Array(part).withUnsafeBytes { Glibc.write(copy, $0.baseAddress, $0.count) }
            close(copy)
        }
    }
}
