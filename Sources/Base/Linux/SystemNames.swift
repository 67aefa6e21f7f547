internal import Glibc

/// Entries of the system's accounts, from any thread.
package enum SystemNames {
    /// The name of a group; its number if it has none.
    package static func group(_ gid: UInt32) -> String {
        var entry = Glibc.group()
        let name = lookUp { buffer, size, result in
            getgrgid_r(gid, &entry, buffer, size, &result)
        } take: {
            String(cString: $0.gr_name)
        }
        return name ?? "\(gid)"
    }

    /// The home of a user; nil if the system knows none.
    package static func home(ofUser uid: UInt32) -> String? {
        var entry = passwd()
        return lookUp { buffer, size, result in
            getpwuid_r(uid, &entry, buffer, size, &result)
        } take: {
            String(cString: $0.pw_dir)
        }
    }

    /// Calls with a buffer that grows until it is large enough.
    /// - Parameter take: gets the entry, whose strings are in that buffer.
    package static func lookUp<Entry, Value>(
        _ call: (UnsafeMutablePointer<CChar>, Int, inout UnsafeMutablePointer<Entry>?) -> Int32,
        take: (Entry) -> Value
    ) -> Value? {
        var size = 1024
        while size <= 1 << 20 {
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { buffer.deallocate() }
            var result: UnsafeMutablePointer<Entry>?
            let code = call(buffer, size, &result)
            if code != ERANGE { return code == 0 ? result.map { take($0.pointee) } : nil }
            size *= 2
        }
        return nil
    }
}
