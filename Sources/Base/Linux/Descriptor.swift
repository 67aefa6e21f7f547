internal import Glibc

/// Writing to descriptors that belong to somebody else, such as standard output or a log.
package enum Descriptor {
    /// Writes the whole text, however long its reader takes.
    /// - Returns: 0, or the error number of write(2).
    @discardableResult
    package static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return errno }
            rest = rest.dropFirst(count)
        }
        return 0
    }
}
