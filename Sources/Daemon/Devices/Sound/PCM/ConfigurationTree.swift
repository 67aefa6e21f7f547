internal import CALSA
internal import Glibc

/// The owner of a `snd_config_t`: a tree of ALSA's configuration, which is deleted when this value ends.
struct ConfigurationTree: ~Copyable {
    let root: OpaquePointer

    /// - Parameter text: as in a configuration file.
    init(_ text: String) throws(ALSAError) {
        var root: OpaquePointer?
        try check("snd_config_load_string", snd_config_load_string(&root, text, 0))
        guard let root else { throw ALSAError(call: "snd_config_load_string", code: -ENOMEM) }
        self.root = root
    }

    deinit { snd_config_delete(root) }

    /// Replaces the text at a key such as `pcm.simulated.file`. Unlike in the text given to `init`, no character needs
    /// an escape.
    func set(_ key: String, to text: String) throws(ALSAError) {
        var node: OpaquePointer?
        try check("snd_config_search", snd_config_search(root, key, &node))
        try check("snd_config_set_string", snd_config_set_string(node, text))
    }
}
