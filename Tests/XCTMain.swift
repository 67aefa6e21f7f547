import Testing

/// Runs the tests. SwiftPM would write this file itself, after it has looked for tests of XCTest in an index of the sources. There are none,
/// and make builds without an index, which saves time.
@main struct Runner {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
