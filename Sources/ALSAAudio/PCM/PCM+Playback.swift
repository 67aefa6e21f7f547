internal import CALSA
internal import Glibc

extension PCM {
    /// How full the PCM is, in frames.
    struct Fill: Equatable {
        /// Frames that it would take now.
        var room: Int
        /// Frames written and not heard yet, those inside a sound server or the hardware included; `nil` where the PCM
        /// does not know at the moment.
        var delay: Int?
    }

    /// Fails in every state in which nothing can be played, such as after an underrun.
    func fill() throws(ALSAError) -> Fill {
        let room = try check("snd_pcm_avail", snd_pcm_avail(handle))
        // PulseAudio's plugin fails here as long as the server has not sent it a time.
        var delay: snd_pcm_sframes_t = 0
        return Fill(room: room, delay: snd_pcm_delay(handle, &delay) == 0 ? delay : nil)
    }

    /// Writes interleaved frames; the PCM starts by itself with the first ones.
    /// - Parameters:
    ///   - bytes: whole frames in the negotiated format.
    ///   - offset: bytes to leave out at the front.
    /// - Returns: the number of frames taken, fewer than given or 0 if there was no room.
    func write(_ bytes: [UInt8], from offset: Int, format: StreamFormat) throws(ALSAError) -> Int {
        let frames = snd_pcm_uframes_t((bytes.count - offset) / format.bytesPerFrame)
        let taken = bytes.withUnsafeBytes { snd_pcm_writei(handle, $0.baseAddress.map { $0 + offset }, frames) }
        return taken == -Int(EAGAIN) ? 0 : try check("snd_pcm_writei", taken)
    }

    /// Lets the PCM write out what it keeps. Only for PCMs without a clock, where it does not wait: elsewhere this
    /// call may block for ever.
    func drain() throws(ALSAError) {
        try check("snd_pcm_drain", snd_pcm_drain(handle))
    }
}
