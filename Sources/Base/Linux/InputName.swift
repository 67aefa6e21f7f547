internal import CLinux

/// The names of input devices and of their keys.
package enum InputName {
    /// Whether it can be one exact name in `/dev/input/by-id`: what udev writes, without what means a pattern in its rules.
    package static func isValid(_ name: String) -> Bool {
        // Other names are for mice and joysticks, not for keys.
        guard name.contains("event"), name.utf8.count < 256, !name.hasPrefix(".") else { return false }
        return name.unicodeScalars.allSatisfy { letter in
            letter.properties.isAlphabetic || ("0"..."9").contains(letter) || "#+-.:=@_".unicodeScalars.contains(letter)
        }
    }

    /// The number of a key by its name in `linux/input-event-codes.h`, such as `KEY_PLAYPAUSE`.
    package static func code(ofKey name: String) -> UInt16? { UInt16(exactly: qc_input_code(name)) }

    /// The kernel's name of a key; nil where it has none.
    package static func key(_ code: UInt16) -> String? { qc_input_name(UInt32(code)).map { String(cString: $0) } }

    /// The names of all keys.
    package static var keys: [String] {
        var names: [String] = []
        while let name = qc_input_name_at(Int32(names.count)) { names.append(String(cString: name)) }
        return names
    }
}
