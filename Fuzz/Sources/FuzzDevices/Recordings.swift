import Fuzzer
import Glibc
import Logging
import QuickConnect

@testable import ALSAAudio
@testable import MediaFolder

/// A media folder in memory, for this process alone.
private let folder: String = {
    let path = "/dev/shm/quickconnect-fuzz-\(getpid())"
    mkdir(path, 0o700)
    atexit { rmdir("/dev/shm/quickconnect-fuzz-\(getpid())") }
    return path
}()

private let media = MediaFolder(path: folder)
private let logger = Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }

/// Recovers a recording that was cut off, and plays what became of it.
func recover(_ bytes: UnsafeBufferPointer<UInt8>, _ ending: String) {
    let (name, hidden) = ("take.\(ending)", ".take.\(ending).recording")
    write(bytes, to: hidden)
    let owners = MediaOwners(media, index: nil, logger: logger)
    RecordingRecovery(folder: media, owners: owners, logger: logger).run()
    check(!exists(hidden), "what was cut off is dealt with at once")
    check(!exists("\(hidden).whole"), "nothing is left half done")
    if exists(name) {
        check(!exists("\(name).damaged"), "a recording becomes one file")
        play(name)
    } else {
        check(exists("\(name).damaged") == (bytes.count > 8192), "what may be worth something is kept")
    }
    for file in [name, "\(name).damaged"] { unlink("\(folder)/\(file)") }
}

/// What was recovered is a sound, which ends.
private func play(_ name: String) {
    do {
        let decoder = try FileDecoder(try media.open(MediaName(name)), loops: 1)
        check((1...2).contains(decoder.channels) && decoder.rate > 0, "it can be played")
        check(decoder.duration.map { $0 > 0 && $0.isFinite } ?? true, "it has a length")
        var buffer = [Float](repeating: .nan, count: 1024 * 2)
        var frames = 0
        while frames < 200_000 {
            let count = decoder.read(1024, into: &buffer)
            guard count > 0 else { break }
            check(buffer.prefix(count * decoder.channels).allSatisfy(\.isFinite), "every sample is a number")
            frames += count
        }
        check(frames > 0, "what was recovered has sound in it")
        _ = decoder.seek(to: 0.001)
    } catch let error as SoundFile.Failure {
        check(!error.reason.isEmpty, "why it cannot be played is told")
    } catch {
        check(false, "what was recovered can be opened")
    }
}

private func exists(_ name: String) -> Bool { access("\(folder)/\(name)", F_OK) == 0 }

private func write(_ bytes: UnsafeBufferPointer<UInt8>, to name: String) {
    let descriptor = open("\(folder)/\(name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return check(false, "there is room in memory") }
    defer { close(descriptor) }
    check(Glibc.write(descriptor, bytes.baseAddress, bytes.count) == bytes.count, "there is room in memory")
}
