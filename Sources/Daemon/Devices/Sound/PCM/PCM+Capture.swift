internal import CALSA
internal import Glibc

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
