internal import CALSA
internal import Glibc

/// The configuration of libasound, which reads it once for the whole process and keeps it.
///
/// If libasound cannot open a file, for example because no descriptor is free, it goes on without that file, and keeps
/// the result until a file changes (`snd_config_update_r` in its `conf.c`). Until then it knows no device.
enum GlobalConfiguration {
    /// A kind of devices.
    enum Kind: String {
        case pcm, control = "ctl"
    }

    /// Whether it defines a device. One that it defines, but that cannot be opened, is only missing now.
    /// - Parameter name: such as `default` or `plughw:1,0`.
    static func defines(_ kind: Kind, _ name: String) -> Bool {
        var root: OpaquePointer?
        guard snd_config_update_ref(&root) >= 0, let root else { return false }
        defer { snd_config_unref(root) }
        let first = name.split(separator: ":").first.map(String.init) ?? name
        var node: OpaquePointer?
        return snd_config_search(root, "\(kind.rawValue).\(first)", &node) == 0
    }

    /// Opens a device. If the configuration does not define it, reads the configuration again and tries once more.
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
