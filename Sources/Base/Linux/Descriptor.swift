internal import Glibc

/// Reading from and writing to descriptors that belong to somebody else, such as standard output or a log.
package enum Descriptor {
    /// Writes the whole text, however long its reader takes.
    /// - Returns: 0, or the error number of write(2).
    @discardableResult
    package static func write(_ text: String, to descriptor: Int32) -> Int32 {
        write(Array(text.utf8), to: descriptor)
    }

    /// Writes all bytes, however long their reader takes.
    /// - Returns: 0, or the error number of write(2).
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return errno }
            rest = rest.dropFirst(count)
        }
        return 0
    }

    /// Reads a part of a file, or as much of it as there is; nil with errno if that fails.
    package static func read(_ part: Range<Int>, of descriptor: Int32) -> [UInt8]? {
        var hasFailed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: part.count) { bytes, done in
            while done < part.count {
                let start = bytes.baseAddress.map { $0 + done }
                let count = pread(descriptor, start, part.count - done, part.lowerBound + done)
                if count < 0, errno == EINTR { continue }
                hasFailed = count < 0
                guard count > 0 else { break }
                done += count
            }
        }
        return hasFailed ? nil : bytes
    }
}
