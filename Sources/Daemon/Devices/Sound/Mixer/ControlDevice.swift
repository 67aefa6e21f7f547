internal import CALSA
internal import Glibc

/// Finds the control device, and so the mixer, that belongs to a PCM.
enum ControlDevice {
    /// The control device that a PCM's name implies; nil if it implies none.
    /// - Parameter pcm: a name such as `default`, `pulse`, `plughw:1,0` or `sysdefault:CARD=Device`.
    static func guess(pcm: String) -> String? {
        let parts = pcm.split(separator: ":", maxSplits: 1)
        guard let kind = parts.first.map(String.init) else { return nil }
        if parts.count == 1 { return ["default", "pulse"].contains(kind) ? kind : nil }
        let ofCards: Set = ["hw", "plughw", "sysdefault", "default", "front", "hdmi", "iec958", "dmix"]
        return ofCards.contains(kind) ? card(parts[1]).map { "hw:\($0)" } : nil
    }

    /// The card in arguments such as `1,0` or `CARD=Device,DEV=0`.
    private static func card(_ arguments: Substring) -> Substring? {
        guard let first = arguments.split(separator: ",").first else { return nil }
        let named = arguments.split(separator: ",").first { $0.hasPrefix("CARD=") }
        return named?.dropFirst(5) ?? (first.contains("=") ? nil : first)
    }

    /// The control device of a PCM's card; the PCM is opened for a moment. Nil if there is no card.
    static func ofCard(pcm name: String) throws(ALSAError) -> String? {
        let pcm = try PCM.open(name, .playback)
        guard let card = try pcm.card(), card >= 0 else { return nil }
        return "hw:\(card)"
    }
}

extension PCM {
    /// The number of this PCM's card; negative or nil for a PCM without one.
    func card() throws(ALSAError) -> Int32? {
        var info: OpaquePointer?
        try check("snd_pcm_info_malloc", snd_pcm_info_malloc(&info))
        guard let info else { return nil }
        defer { snd_pcm_info_free(info) }
        try check("snd_pcm_info", snd_pcm_info(handle, info))
        return snd_pcm_info_get_card(info)
    }
}
