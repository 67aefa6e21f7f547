/// How much of a limit one peer may use.
///
/// A peer is whoever must not harm the others: a user of this device, a user of a gateway, an address of the network.
package enum Share: Sendable, Hashable {
    /// For every peer that is not named.
    case quarter
    /// For a peer behind which several programs are, such as the scripts.
    case half
    /// For root and the process's own user, who may do everything anyway.
    case whole

    /// The share of a limit that does not depend on what others use: for connections, sessions, uploads. At least one.
    @inlinable
    package func part(of limit: Int) -> Int {
        switch self {
        case .quarter: max(limit / 4, 1)
        case .half: max(limit / 2, 1)
        case .whole: limit
        }
    }

    /// The share of a limit of which only `free` is left.
    ///
    /// A peer that is alone gets ``part(of:)``. The more the others use, the less it is, so that something is always
    /// left for a newcomer: with n equal peers each gets a part of n + 3. This is the dynamic threshold of Choudhury and
    /// Hahne (IEEE/ACM Transactions on Networking 6, 1998), known from switches with shared memory.
    @inlinable
    package func part(whereFree free: Int) -> Int {
        switch self {
        case .quarter: max(free, 0) / 3
        case .half, .whole: max(free, 0)
        }
    }
}
