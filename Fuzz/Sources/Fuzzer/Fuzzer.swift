import Glibc

/// What libFuzzer calls with each input.
public typealias FuzzTest = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

/// libFuzzer's own main, which SwiftPM's name for that of a program leaves out.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ test: FuzzTest
) -> CInt

/// Lets libFuzzer run a test with this program's arguments, and exits.
public func fuzz(_ test: FuzzTest) -> Never {
    var count = CommandLine.argc
    var arguments = CommandLine.unsafeArgv
    exit(runDriver(&count, &arguments, test))
}

/// Ends the program, which libFuzzer takes for a find, where a rule does not hold.
public func check(_ isRight: Bool, _ rule: StaticString) {
    if !isRight { fatalError("\(rule)") }
}
