internal import CALSA
internal import Glibc

/// The owner of an open `snd_pcm_t`, which is closed when this value ends.
///
/// It is always open in non-blocking mode: no read or write waits. Opening and closing can still block forever if the
/// PCM is a sound server that is stopped, and so can other calls at times. Therefore all of them run on a
/// ``WatchedThread``.
struct PCM: ~Copyable {
    /// The direction of the sound.
    enum Direction {
        case playback, capture

        var stream: snd_pcm_stream_t {
            switch self {
            case .playback: SND_PCM_STREAM_PLAYBACK
            case .capture: SND_PCM_STREAM_CAPTURE
            }
        }
    }

    let handle: OpaquePointer

    private init(owning handle: OpaquePointer) { self.handle = handle }

    deinit { snd_pcm_close(handle) }

    /// Opens a PCM of ALSA's configuration, such as `default` or `plughw:1,0`.
    static func open(_ name: String, _ direction: Direction) throws(ALSAError) -> PCM {
        try GlobalConfiguration.opening(.pcm, name) { () throws(ALSAError) in
            var handle: OpaquePointer?
            try check("snd_pcm_open", snd_pcm_open(&handle, name, direction.stream, SND_PCM_NONBLOCK))
            return try PCM(opened: handle, by: "snd_pcm_open")
        }
    }

    /// Opens a PCM with its own configuration.
    static func open(
        _ name: String,
        of configuration: borrowing ConfigurationTree,
        _ direction: Direction
    ) throws(ALSAError) -> PCM {
        var handle: OpaquePointer?
        let call = "snd_pcm_open_lconf"
        try check(call, snd_pcm_open_lconf(&handle, name, direction.stream, SND_PCM_NONBLOCK, configuration.root))
        return try PCM(opened: handle, by: call)
    }

    private init(opened handle: OpaquePointer?, by call: String) throws(ALSAError) {
        guard let handle else { throw ALSAError(call: call, code: -ENXIO) }
        self.init(owning: handle)
    }
}

extension PCM {
    var isSuspended: Bool { snd_pcm_state(handle) == SND_PCM_STATE_SUSPENDED }

    /// Waits until a period can be transferred.
    /// - Parameter limit: the longest wait, in milliseconds.
    func wait(atMost limit: Int32) throws(ALSAError) {
        try check("snd_pcm_wait", snd_pcm_wait(handle, limit))
    }

    /// Makes the PCM ready to start from an empty buffer, including after an xrun.
    func prepare() throws(ALSAError) {
        try check("snd_pcm_prepare", snd_pcm_prepare(handle))
    }

    /// Continues after the machine was suspended. `EAGAIN`: not yet; after any other error only ``prepare()`` helps.
    func resume() throws(ALSAError) {
        try check("snd_pcm_resume", snd_pcm_resume(handle))
    }
}

extension PCM {
    /// Starts capturing. Does nothing if the PCM is already running.
    func start() throws(ALSAError) {
        guard snd_pcm_state(handle) != SND_PCM_STATE_RUNNING else { return }
        try check("snd_pcm_start", snd_pcm_start(handle))
    }

    /// Frames that can be read now. Fails in every state in which nothing is captured, such as after an overrun.
    func available() throws(ALSAError) -> Int {
        try check("snd_pcm_avail", snd_pcm_avail(handle))
    }

    /// Reads interleaved frames to the front of `bytes`.
    /// - Parameter frames: at most as many as fit.
    /// - Returns: the number of frames read; 0 if there were none.
    func read(_ frames: Int, into bytes: inout [UInt8]) throws(ALSAError) -> Int {
        let count = bytes.withUnsafeMutableBytes { snd_pcm_readi(handle, $0.baseAddress, snd_pcm_uframes_t(frames)) }
        return count == -Int(EAGAIN) ? 0 : try check("snd_pcm_readi", count)
    }
}

extension PCM {
    /// The fill level of the PCM, in frames.
    struct Fill: Equatable {
        /// Frames that it would take now.
        var room: Int
        /// Frames written and not heard yet, including those in a sound server or the hardware; nil if the PCM does not
        /// know at the moment.
        var delay: Int?
    }

    /// Fails in every state in which nothing can be played, such as after an underrun.
    func fill() throws(ALSAError) -> Fill {
        let room = try check("snd_pcm_avail", snd_pcm_avail(handle))
        // PulseAudio's plugin fails here until the server has sent it a time.
        var delay: snd_pcm_sframes_t = 0
        return Fill(room: room, delay: snd_pcm_delay(handle, &delay) == 0 ? delay : nil)
    }

    /// Writes interleaved frames; the PCM starts by itself with the first ones.
    /// - Parameters:
    ///   - bytes: whole frames in the negotiated format.
    ///   - offset: bytes to skip at the front.
    /// - Returns: the number of frames taken, fewer than given or 0 if there was no room.
    func write(_ bytes: [UInt8], from offset: Int, format: StreamFormat) throws(ALSAError) -> Int {
        let frames = snd_pcm_uframes_t((bytes.count - offset) / format.bytesPerFrame)
        let taken = bytes.withUnsafeBytes { snd_pcm_writei(handle, $0.baseAddress.map { $0 + offset }, frames) }
        return taken == -Int(EAGAIN) ? 0 : try check("snd_pcm_writei", taken)
    }

    /// Makes the PCM write out what it holds. Only for PCMs without a clock, where this does not wait: elsewhere it may
    /// block forever.
    func drain() throws(ALSAError) {
        try check("snd_pcm_drain", snd_pcm_drain(handle))
    }
}

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
