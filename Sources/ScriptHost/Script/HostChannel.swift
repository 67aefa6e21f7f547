internal import CLinux
public import Glibc
internal import JSON
internal import QuickConnect

/// The socket between a script's process and its host: reports one way, one byte «go on» the other way.
public final class HostChannel: Sendable {
    public let descriptor: Int32

    /// The socket of a process that a host has started; the process ends when that one does.
    public init(ofHost host: pid_t) {
        descriptor = ScriptProcess.channelNumber
        qc_end_with_parent(host)
    }

    /// Tells the host. Where it does not read, this is dropped: what is told later says it again.
    func tell(_ report: ScriptReport) {
        let bytes = Array("\(report.json.text)\n".utf8)
        _ = bytes.withUnsafeBytes {
            send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
    }

    /// What the host wrote: true: go on; false: it is gone; nil: nothing yet.
    func mayGoOn() -> Bool? {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT))
        if count > 0 { return true }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? nil : false
    }
}
