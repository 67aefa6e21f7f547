internal import CALSA
internal import Glibc

extension PCM {
    /// Negotiates a format near the requested one with the PCM, and prepares it to play or to capture.
    func configure(_ wish: StreamWish) throws(ALSAError) -> StreamFormat {
        let format = try negotiate(wish)
        try setThresholds(format)
        return format
    }

    /// The order matters: each step narrows the choices of the next, and rate and channels matter more than the sizes.
    /// Every card and plugin supports interleaved read/write access.
    private func negotiate(_ wish: StreamWish) throws(ALSAError) -> StreamFormat {
        let parameters = try Parameters("snd_pcm_hw_params_malloc", snd_pcm_hw_params_malloc, snd_pcm_hw_params_free)
        let p = parameters.pointer
        try check("snd_pcm_hw_params_any", snd_pcm_hw_params_any(handle, p))
        let access = SND_PCM_ACCESS_RW_INTERLEAVED
        try check("snd_pcm_hw_params_set_access", snd_pcm_hw_params_set_access(handle, p, access))
        let sample = try chooseSampleFormat(p)
        var channels = UInt32(wish.channels)
        try check("snd_pcm_hw_params_set_channels_near", snd_pcm_hw_params_set_channels_near(handle, p, &channels))
        var rate = UInt32(wish.rate)
        try check("snd_pcm_hw_params_set_rate_near", snd_pcm_hw_params_set_rate_near(handle, p, &rate, nil))
        let sizes = try chooseSizes(p, wish)
        return StreamFormat(
            sample: sample,
            channels: Int(channels),
            rate: Int(rate),
            period: sizes.period,
            buffer: sizes.buffer
        )
    }

    /// Also commits the parameters: only then are the sizes known in frames.
    private func chooseSizes(_ p: OpaquePointer, _ wish: StreamWish) throws(ALSAError) -> (period: Int, buffer: Int) {
        var time = wish.periodTime
        let setPeriod = "snd_pcm_hw_params_set_period_time_near"
        try check(setPeriod, snd_pcm_hw_params_set_period_time_near(handle, p, &time, nil))
        time = wish.bufferTime
        let setBuffer = "snd_pcm_hw_params_set_buffer_time_near"
        try check(setBuffer, snd_pcm_hw_params_set_buffer_time_near(handle, p, &time, nil))
        try check("snd_pcm_hw_params", snd_pcm_hw_params(handle, p))

        var period: snd_pcm_uframes_t = 0
        var buffer: snd_pcm_uframes_t = 0
        try check("snd_pcm_hw_params_get_period_size", snd_pcm_hw_params_get_period_size(p, &period, nil))
        try check("snd_pcm_hw_params_get_buffer_size", snd_pcm_hw_params_get_buffer_size(p, &buffer))
        return (Int(period), Int(buffer))
    }

    private func chooseSampleFormat(_ parameters: OpaquePointer) throws(ALSAError) -> SampleFormat {
        let taken = SampleFormat.allCases.first {
            snd_pcm_hw_params_test_format(handle, parameters, $0.alsaFormat) == 0
        }
        let call = "snd_pcm_hw_params_set_format"
        guard let taken else { throw ALSAError(call: call, code: -EINVAL, remark: "it has none of S16, S32 or FLOAT") }
        try check(call, snd_pcm_hw_params_set_format(handle, parameters, taken.alsaFormat))
        return taken
    }

    private func setThresholds(_ format: StreamFormat) throws(ALSAError) {
        let parameters = try Parameters("snd_pcm_sw_params_malloc", snd_pcm_sw_params_malloc, snd_pcm_sw_params_free)
        let p = parameters.pointer
        try check("snd_pcm_sw_params_current", snd_pcm_sw_params_current(handle, p))
        if snd_pcm_stream(handle) == SND_PCM_STREAM_CAPTURE {
            let period = snd_pcm_uframes_t(format.period)
            try check("snd_pcm_sw_params_set_avail_min", snd_pcm_sw_params_set_avail_min(handle, p, period))
            try check("snd_pcm_sw_params", snd_pcm_sw_params(handle, p))
            return
        }
        // It starts when the lead has been written, which takes no time; with a smaller threshold it could run dry
        // meanwhile.
        let start = snd_pcm_uframes_t(format.lead / format.period * format.period)
        try check("snd_pcm_sw_params_set_start_threshold", snd_pcm_sw_params_set_start_threshold(handle, p, start))
        // The writer wakes when there is room for a period below the lead, not below the whole buffer.
        let room = snd_pcm_uframes_t(format.buffer - format.lead + format.period)
        try check("snd_pcm_sw_params_set_avail_min", snd_pcm_sw_params_set_avail_min(handle, p, room))
        try check("snd_pcm_sw_params", snd_pcm_sw_params(handle, p))
    }
}

/// The owner of a `snd_pcm_hw_params_t` or `snd_pcm_sw_params_t`.
private struct Parameters: ~Copyable {
    let pointer: OpaquePointer
    private let free: (OpaquePointer?) -> Void

    /// - Parameter call: the name of `make`, for errors.
    init(
        _ call: String,
        _ make: (UnsafeMutablePointer<OpaquePointer?>?) -> Int32,
        _ free: @escaping (OpaquePointer?) -> Void
    ) throws(ALSAError) {
        var pointer: OpaquePointer?
        try check(call, make(&pointer))
        guard let pointer else { throw ALSAError(call: call, code: -ENOMEM) }
        (self.pointer, self.free) = (pointer, free)
    }

    deinit { free(pointer) }
}
