internal import CALSA
internal import Glibc

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
