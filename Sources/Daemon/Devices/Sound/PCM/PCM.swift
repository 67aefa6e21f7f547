internal import CALSA

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
