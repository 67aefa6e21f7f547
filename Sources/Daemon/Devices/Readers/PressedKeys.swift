internal import JSON
internal import Linux

/// The keys of a device, as events.
struct PressedKeys {
    /// The names of those that are told; empty: all are, by the kernel's names.
    let names: [UInt16: String]
    private var pressed: Set<UInt16> = []

    init(names: [UInt16: String]) { self.names = names }

    /// Takes the press or the release of a key.
    /// - Returns: what subscribers are told, if anything.
    mutating func take(_ code: UInt16, isPressed: Bool) -> JSONValue? {
        guard isPressed != pressed.contains(code), let name = name(of: code) else { return nil }
        if isPressed { pressed.insert(code) } else { pressed.remove(code) }
        return ["key": .string(name), "pressed": .bool(isPressed)]
    }

    /// What has changed while nobody could tell it.
    mutating func settle(_ now: Set<UInt16>) -> [JSONValue] {
        let released = pressed.subtracting(now).sorted().compactMap { take($0, isPressed: false) }
        return released + now.subtracting(pressed).sorted().compactMap { take($0, isPressed: true) }
    }

    private func name(of code: UInt16) -> String? {
        names.isEmpty ? InputName.key(code) ?? "KEY_\(code)" : names[code]
    }
}
