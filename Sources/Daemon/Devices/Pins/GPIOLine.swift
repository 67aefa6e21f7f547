internal import CLinux
internal import Glibc
internal import Linux
internal import QuickConnect

extension GPIOBinding {
    /// The flags of `linux/gpio.h` that say how it is used.
    fileprivate var flags: UInt64 {
        var flags = isOutput ? qc_gpio_output : qc_gpio_input
        if isActiveLow { flags |= qc_gpio_active_low }
        if isOutput {
            switch drive {
            case .pushPull: break
            case .openDrain: flags |= qc_gpio_open_drain
            case .openSource: flags |= qc_gpio_open_source
            }
        }
        switch bias {
        case .pullUp?: flags |= qc_gpio_pull_up
        case .pullDown?: flags |= qc_gpio_pull_down
        case .some(.none): flags |= qc_gpio_no_bias
        case nil: break
        }
        return flags
    }
}

/// A line that the kernel holds for this process until it is closed.
final class GPIOLine {
    let binding: GPIOBinding
    private(set) var descriptor: Int32
    /// The number of the last edge that was read; the kernel counts from 1 for each request of a line.
    private var lastEdge: UInt32 = 0
    private static let maxEdges = 64

    /// Takes the line, an output with its first value.
    init(_ chips: GPIOChips, _ binding: GPIOBinding, for name: String, value: Bool = false) throws(CommandError) {
        self.binding = binding
        // Older kernels make the queue of edges of a debounced line only for who wants edges at first.
        let wantsQueue = !binding.isOutput && binding.debounce > 0
        let flags = binding.flags | (wantsQueue ? qc_gpio_edges : 0)
        // The kernel keeps 31 bytes of the consumer.
        descriptor = try chips.take(binding, for: "quickconnectd \(name)", flags: flags, value: value)
        if wantsQueue { try watch(false) }
    }

    deinit { close() }

    func close() {
        guard descriptor >= 0 else { return }
        _ = Glibc.close(descriptor)
        descriptor = -1
    }

    /// Whether its chip has gone. Asks nothing of the chip, which may be behind a slow bus.
    var isGone: Bool {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLHUP | POLLERR) != 0
    }

    private func failure(_ call: String, _ result: Int32) -> CommandError {
        let isLacking = [EINVAL, EOPNOTSUPP, ENXIO].contains(-result)
        return CommandError(
            isLacking ? .unsupported : .unavailable,
            "the GPIO line \(binding.line) does not answer: \(SystemCallError(call, -result))"
        )
    }
}

extension GPIOLine: OutputPin {
    func write(_ value: Double) throws(CommandError) {
        let result = qc_gpio_set(descriptor, value == 0 ? 0 : 1)
        guard result >= 0 else { throw failure("GPIO_V2_LINE_SET_VALUES", result) }
    }
}

extension GPIOLine: InputPin {
    func read() throws(CommandError) -> Bool {
        let result = qc_gpio_get(descriptor)
        guard result >= 0 else { throw failure("GPIO_V2_LINE_GET_VALUES", result) }
        return result == 1
    }

    func watch(_ isWatching: Bool) throws(CommandError) {
        let flags = binding.flags | (isWatching ? qc_gpio_edges : 0)
        let result = qc_gpio_configure(descriptor, flags, UInt32(binding.debounce))
        guard result >= 0 else { throw failure("GPIO_V2_LINE_SET_CONFIG", result) }
        // What came before is of no interest, and its numbers neither.
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&entry, 1, 0) > 0, entry.revents & Int16(POLLIN) != 0, try !edges().states.isEmpty {}
    }

    func edges() throws(CommandError) -> (states: [Bool], lost: Int) {
        var edges = [qc_gpio_edge](repeating: qc_gpio_edge(), count: Self.maxEdges)
        let count = qc_gpio_read(descriptor, &edges, Int32(Self.maxEdges))
        guard count >= 0 else {
            if count == -EAGAIN { return ([], 0) }
            throw failure("read", count)
        }
        var lost = 0
        for edge in edges.prefix(Int(count)) {
            lost += Int(edge.number &- lastEdge) - 1
            lastEdge = edge.number
        }
        return (edges.prefix(Int(count)).map { $0.rises != 0 }, max(lost, 0))
    }
}
