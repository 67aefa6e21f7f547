internal import CALSA
internal import Glibc

/// The configuration of libasound, which it reads once for the whole process and keeps.
///
/// If it cannot open a file, for example because no descriptor is free, it keeps what it has without it, until a file
/// changes (`snd_config_update_r` in its `conf.c`). Then no device is known any more.
enum GlobalConfiguration {
    /// A kind of devices.
    enum Kind: String {
        case pcm, control = "ctl"
    }

    /// Whether it has a definition of a device. If it has, but the device cannot be opened, that is only missing now.
    /// - Parameter name: such as `default` or `plughw:1,0`.
    static func defines(_ kind: Kind, _ name: String) -> Bool {
        var root: OpaquePointer?
        guard snd_config_update_ref(&root) >= 0, let root else { return false }
        defer { snd_config_unref(root) }
        let first = name.split(separator: ":").first.map(String.init) ?? name
        var node: OpaquePointer?
        return snd_config_search(root, "\(kind.rawValue).\(first)", &node) == 0
    }

    /// Opens a device. If the configuration does not have it, reads that again and tries once more.
    static func opening<Device: ~Copyable>(
        _ kind: Kind,
        _ name: String,
        _ open: () throws(ALSAError) -> Device
    ) throws(ALSAError) -> Device {
        do throws(ALSAError) { return try open() } catch {
            guard error.number == ENOENT, !defines(kind, name) else { throw error }
        }
        snd_config_update_free_global()
        return try open()
    }
}
