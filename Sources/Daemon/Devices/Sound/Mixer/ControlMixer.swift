internal import CALSA
internal import Glibc
internal import QuickConnect

/// The owner of a `snd_mixer_t`: the mixer of a control device, loaded.
struct ControlMixer: ~Copyable {
    private let handle: OpaquePointer
    /// The name of the control device.
    let control: String

    private init(owning handle: OpaquePointer, of control: String) {
        self.handle = handle
        self.control = control
    }

    deinit { snd_mixer_close(handle) }

    /// - Parameter control: a control device of ALSA's configuration, such as `default` or `hw:1`.
    static func open(_ control: String) throws(ALSAError) -> ControlMixer {
        try GlobalConfiguration.opening(.control, control) { () throws(ALSAError) in try openOnce(control) }
    }

    private static func openOnce(_ control: String) throws(ALSAError) -> ControlMixer {
        var handle: OpaquePointer?
        try check("snd_mixer_open", snd_mixer_open(&handle, 0))
        guard let handle else { throw ALSAError(call: "snd_mixer_open", code: -ENOMEM) }
        let mixer = ControlMixer(owning: handle, of: control)
        try check("snd_mixer_attach", snd_mixer_attach(handle, control))
        try check("snd_mixer_selem_register", snd_mixer_selem_register(handle, nil, nil))
        try check("snd_mixer_load", snd_mixer_load(handle))
        return mixer
    }

    /// The result of a change.
    enum Outcome {
        /// The resulting volume.
        case volume(Volume)
        /// No element has a playback volume.
        case noVolume
        /// The element of that name cannot be muted.
        case noSwitch(String)
    }

    /// Applies the change, if any, to the element that controls the playback volume.
    func use(_ change: VolumeChange?) throws(ALSAError) -> Outcome {
        guard let element = playbackElement() else { return .noVolume }
        switch change {
        case .percent(let percent): try element.set(percent: percent)
        case .muted(true) where !element.hasSwitch: return .noSwitch(element.name)
        case .muted(let isMuted) where element.hasSwitch: try element.set(muted: isMuted)
        case .muted, nil: break
        }
        return .volume(Volume(percent: try element.percent(), isMuted: try element.isMuted()))
    }

    /// What poll(2) must watch to notice changes by others.
    func pollEntries() throws(ALSAError) -> [pollfd] {
        let count = try check("snd_mixer_poll_descriptors_count", snd_mixer_poll_descriptors_count(handle))
        var entries = [pollfd](repeating: pollfd(), count: Int(count))
        let call = "snd_mixer_poll_descriptors"
        let filled = try check(call, snd_mixer_poll_descriptors(handle, &entries, UInt32(count)))
        return Array(entries.prefix(Int(filled)))
    }

    /// Processes the events that poll(2) reported.
    func takeEvents(_ polled: [pollfd]) throws(ALSAError) {
        var polled = polled
        var events: UInt16 = 0
        let call = "snd_mixer_poll_descriptors_revents"
        try check(call, snd_mixer_poll_descriptors_revents(handle, &polled, UInt32(polled.count), &events))
        // A card that was removed, or a server that ended, would be reported endlessly.
        let isLost = Int32(events) & (POLLERR | POLLNVAL | POLLHUP) != 0
        let isBroken = polled.contains { Int32($0.revents) & (POLLERR | POLLNVAL | POLLHUP) != 0 }
        guard !isLost, !isBroken else { throw ALSAError(call: "poll", code: -ENODEV) }
        try check("snd_mixer_handle_events", snd_mixer_handle_events(handle))
    }

    private func playbackElement() -> PlaybackElement? {
        var elements: [PlaybackElement] = []
        var next = snd_mixer_first_elem(handle)
        while let pointer = next {
            if let element = PlaybackElement(pointer) { elements.append(element) }
            next = snd_mixer_elem_next(pointer)
        }
        return PlaybackElement.preferred(among: elements.map(\.name)).map { elements[$0] }
    }
}

/// A simple mixer element with a playback volume. Valid as long as its mixer is open.
struct PlaybackElement {
    let name: String
    private let pointer: OpaquePointer
    private let range: ClosedRange<Int>

    /// - Returns: nil for an element whose playback volume cannot be changed, or that has none.
    init?(_ pointer: OpaquePointer) {
        guard snd_mixer_selem_is_active(pointer) != 0, snd_mixer_selem_has_playback_volume(pointer) != 0 else {
            return nil
        }
        var low = 0
        var high = 0
        snd_mixer_selem_get_playback_volume_range(pointer, &low, &high)
        guard low < high else { return nil }
        self.pointer = pointer
        name = String(cString: snd_mixer_selem_get_name(pointer))
        range = low...high
    }

    /// Chooses the name that people mean by volume.
    /// - Returns: its index: the best known one, or the first; nil if there are none.
    static func preferred(among names: [String]) -> Int? {
        for wanted in ["Master", "PCM", "Speaker", "Headphone", "Digital"] {
            if let index = names.firstIndex(of: wanted) { return index }
        }
        return names.isEmpty ? nil : 0
    }

    var hasSwitch: Bool { snd_mixer_selem_has_playback_switch(pointer) != 0 }

    /// Per cent of the range, 0 to 100. If the mixer has few steps, the nearest.
    func percent() throws(ALSAError) -> Int {
        var value = 0
        let call = "snd_mixer_selem_get_playback_volume"
        try check(call, snd_mixer_selem_get_playback_volume(pointer, SND_MIXER_SCHN_FRONT_LEFT, &value))
        let share = Double(value - range.lowerBound) / Double(range.upperBound - range.lowerBound)
        return Int((share * 100).rounded())
    }

    func set(percent: Int) throws(ALSAError) {
        let share = Double(max(0, min(100, percent))) / 100
        let value = range.lowerBound + Int((share * Double(range.upperBound - range.lowerBound)).rounded())
        let call = "snd_mixer_selem_set_playback_volume_all"
        try check(call, snd_mixer_selem_set_playback_volume_all(pointer, value))
    }

    /// Whether it is muted. An element without a switch never is.
    func isMuted() throws(ALSAError) -> Bool {
        guard hasSwitch else { return false }
        var isOn: Int32 = 1
        let call = "snd_mixer_selem_get_playback_switch"
        try check(call, snd_mixer_selem_get_playback_switch(pointer, SND_MIXER_SCHN_FRONT_LEFT, &isOn))
        return isOn == 0
    }

    func set(muted: Bool) throws(ALSAError) {
        let call = "snd_mixer_selem_set_playback_switch_all"
        try check(call, snd_mixer_selem_set_playback_switch_all(pointer, muted ? 0 : 1))
    }
}
