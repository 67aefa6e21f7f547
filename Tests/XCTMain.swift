import Testing

/// Runs the tests. SwiftPM would write this file itself, after it has looked for tests of XCTest in an index of the sources. There are none,
/// and making the index takes a fifth of the compiler's time: make builds without one, which needs this file.
@main struct Runner {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
