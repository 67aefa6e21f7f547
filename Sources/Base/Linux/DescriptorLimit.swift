internal import Glibc

/// How many descriptors this process may have.
package enum DescriptorLimit {
    /// Raises it as far as the system allows, because each connection takes one.
    /// - Returns: the resulting limit.
    @discardableResult
    package static func raise() -> Int {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return 0 }
        // No limit of connections needs more, and some systems allow a billion.
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        _ = setrlimit(resource, &limit)
        return getrlimit(resource, &limit) == 0 ? Int(limit.rlim_cur) : 0
    }
}
