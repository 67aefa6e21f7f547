/// Names that are part of a path, and never one themselves.
package enum PlainName {
    package static let expectation = "letters, digits, _ and -"

    /// Whether it has 1 to 100 letters, digits, `_` and `-` of ASCII, and does not look like a flag.
    package static func isValid(_ name: some StringProtocol) -> Bool {
        (1...100).contains(name.utf8.count) && !name.hasPrefix("-")
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"): true
                default: false
                }
            }
    }
}
