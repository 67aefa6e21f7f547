internal import Glibc
package import Linux

/// Whose channel it is. On the loop's thread.
package protocol ChannelOwner: AnyObject {
    /// Something can be read, or an end is reached.
    func inputIsReady()
    /// There is room again, after ``SocketChannel/write(_:)`` has found none.
    func outputIsReady()
    /// The other side is closed. What it has sent before can still be read.
    func peerIsGone()
}

/// A connected stream socket on a loop. It keeps no bytes: its owner reads when it may, and keeps what the kernel does not take.
package final class SocketChannel: DescriptorWatcher {
    /// What a read has found.
    package enum Input {
        case bytes(Int)
        /// Nothing now.
        case nothing
        /// Nothing more will come.
        case end
    }

    package let descriptor: Int32
    private let loop: Loop
    /// Until it is closed.
    private var owner: (any ChannelOwner)?
    /// Whether there may be something to read.
    package private(set) var isReadable = false
    /// Whether an end has been told of, which a read then finds.
    private var hasEnd = false
    /// Whether the kernel had no room for output, and has not had any since.
    package private(set) var isFull = false
    private var isOpen = true

    /// Told once for each change: a connection that is not read now does not wake the loop as long as something waits there.
    private static let interest: Readiness = [.input, .inputEnd, .changes]

    /// Takes a connected socket that does not block, and closes it in the end.
    package init(_ descriptor: Int32, on loop: Loop) {
        self.descriptor = descriptor
        self.loop = loop
    }

    /// Watches the socket.
    package func begin(for owner: any ChannelOwner) throws(SystemCallError) {
        try loop.watch(descriptor, for: Self.interest, self)
        self.owner = owner
    }

    package func ready(_ readiness: Readiness) {
        if !readiness.isDisjoint(with: [.inputEnd, .end]) { hasEnd = true }
        if hasEnd || readiness.contains(.input) { isReadable = true }
        if readiness.contains(.output), isFull {
            isFull = false
            loop.change(descriptor, to: Self.interest)
            owner?.outputIsReady()
        }
        if !readiness.isDisjoint(with: .end), isOpen { owner?.peerIsGone() }
        if isReadable, isOpen { owner?.inputIsReady() }
    }

    /// Reads what there is and fits.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> Input {
        guard isOpen else { return .end }
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count > 0 {
                // Where a stream gives less than fits, it is empty (epoll(7)); an end is told of besides. It may not be behind
                // descriptors or other credentials that its client passes, which nothing here reads: those delay that client only.
                if count < buffer.count { isReadable = hasEnd }
                return .bytes(count)
            }
            if count < 0, errno == EINTR { continue }
            isReadable = false
            return count < 0 && errno == EAGAIN ? .nothing : .end
        }
    }

    /// Writes what the kernel takes. Where that is not all, ``ChannelOwner/outputIsReady()`` follows.
    /// - Returns: how much; nil if nothing can be written any more.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard isOpen else { return nil }
        while true {
            // MSG_NOSIGNAL: SIGPIPE would end the process.
            let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count == bytes.count { return count }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 || errno == EAGAIN else { return nil }
            if !isFull, owner != nil {
                isFull = true
                loop.change(descriptor, to: Self.interest.union(.output))
            }
            return max(count, 0)
        }
    }

    /// Reads what has come and throws it away: a socket that is closed with unread input gives its client an error in place of
    /// what was written last.
    package func skipInput() {
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer in
            for _ in 0..<64 {
                guard case .bytes = read(into: buffer), isReadable else { return }
            }
        }
    }

    /// How many bytes the kernel keeps of what is written.
    package func limitOutput(to bytes: Int32) {
        var bytes = bytes
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout.size(ofValue: bytes)))
    }

    package func close() {
        guard isOpen else { return }
        isOpen = false
        if owner != nil { loop.forget(descriptor) }
        owner = nil
        Glibc.close(descriptor)
    }
}
