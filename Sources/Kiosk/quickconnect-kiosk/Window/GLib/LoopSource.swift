import CWebKit

/// Something that the main loop does later, repeatedly, or when a descriptor is ready. It stays in the loop, even
/// without references, until its function returns that it is over or it is cancelled.
package final class LoopSource {
    private var id: guint = 0
    private let body: () -> Bool

    private init(_ body: @escaping () -> Bool) { self.body = body }

    /// Once, after a time.
    @discardableResult
    static func after(_ time: Duration, _ body: @escaping () -> Void) -> LoopSource {
        every(time) {
            body()
            return false
        }
    }

    /// Repeatedly, as long as the function returns true.
    @discardableResult
    package static func every(_ time: Duration, _ body: @escaping () -> Bool) -> LoopSource {
        let source = LoopSource(body)
        let milliseconds = guint(min(max(time / .milliseconds(1), 0), 1e9).rounded(.up))
        source.id = g_timeout_add_full(G_PRIORITY_DEFAULT, milliseconds, run, source.retained, release)
        return source
    }

    /// Whenever a descriptor is ready, as long as the function returns true.
    static func watch(_ descriptor: Int32, _ events: GIOCondition, _ body: @escaping () -> Bool) -> LoopSource {
        let source = LoopSource(body)
        let function: GUnixFDSourceFunc = { _, _, data in LoopSource.run(data) }
        source.id = g_unix_fd_add_full(
            G_PRIORITY_DEFAULT,
            descriptor,
            events,
            function,
            source.retained,
            release
        )
        return source
    }

    var isActive: Bool { id != 0 }

    func cancel() {
        guard id != 0 else { return }
        let old = id
        id = 0
        g_source_remove(old)
    }

    private var retained: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    private static let release: GDestroyNotify = { data in
        guard let data else { return }
        Unmanaged<LoopSource>.fromOpaque(data).release()
    }

    private static let run: GSourceFunc = { data in
        guard let data else { return 0 }
        let source: LoopSource = owner(data)
        guard source.id != 0, source.body() else {
            source.id = 0
            return 0
        }
        return source.id != 0 ? 1 : 0
    }
}
