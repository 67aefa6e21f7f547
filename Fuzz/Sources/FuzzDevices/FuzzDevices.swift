import Fuzzer

@main enum FuzzDevices {
    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments.count == 3, arguments[1] == "--make-recordings" { return try makeRecordings(in: arguments[2]) }
        fuzz(read)
    }
}

/// What libFuzzer calls with each input: what a device says. The first byte says what it is: lines of gpsd, or a recording
/// that was cut off, by its format.
private func read(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes, count > 1 else { return 0 }
    let rest = UnsafeBufferPointer(start: bytes + 1, count: count - 1)
    switch bytes[0] {
    case UInt8(ascii: "g"): readReports(rest)
    case UInt8(ascii: "c"): recover(rest, "caf")
    case UInt8(ascii: "w"): recover(rest, "wav")
    case UInt8(ascii: "f"): recover(rest, "flac")
    case UInt8(ascii: "o"): recover(rest, "ogg")
    default: break
    }
    return 0
}
