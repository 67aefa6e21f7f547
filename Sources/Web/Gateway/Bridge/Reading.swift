internal import NIOCore

/// Whether a channel is read, so that its other end waits if it is not. For use on its event loop only.
final class Reading {
    private let channel: any Channel
    private var isOn = true

    init(_ channel: any Channel) { self.channel = channel }

    func set(_ reads: Bool) {
        guard reads != isOn else { return }
        isOn = reads
        channel.setOption(.autoRead, value: reads).whenComplete { _ in }
    }
}
