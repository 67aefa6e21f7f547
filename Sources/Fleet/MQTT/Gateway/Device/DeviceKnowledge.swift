import Configuration
import JSON
import QuickConnect

/// What the daemon has reported about the device.
struct DeviceKnowledge: Sendable, Equatable {
    struct Sound: Sendable, Equatable {
        var number: Int64
        var name: String
    }

    var hello: JSONValue?
    /// The reply of `commands`.
    var commands: JSONObject?
    /// The system sounds, in their order.
    var sounds: [Sound] = []
    /// Sound files of the media folder.
    var files: [String] = []
    /// Whether the doctor has found a motor.
    var hasMotor = false
    /// The schedules that Home Assistant may not run, and the values that it may not set.
    var closed: Set<String> = []

    /// What to publish: the values of the settings, or all that names a user or a group of this gateway itself.
    func names(by settings: MQTTSettings) -> PublishedNames {
        settings.publishesOwnValues ? own.topics : PublishedNames(values: settings.values)
    }

    /// What names a user or a group of this gateway itself.
    var own: PublishedNames {
        func names(_ kind: String) -> [String] {
            (commands ?? [:]).filter { isOwn($0.0) && $0.1.objectValue?[kind] != nil }.map(\.0).sorted()
        }
        return PublishedNames(values: names("value"), events: names("event"), schedules: names("schedule"))
    }

    /// Whether a command is a schedule.
    func isSchedule(_ command: String) -> Bool { commands?[command]?.objectValue?["schedule"] != nil }

    /// Whether a command is on the list of this gateway by its own rules.
    func isOwn(_ command: String) -> Bool {
        let gateways = commands?[command]?.objectValue?["gateways"]?.arrayValue ?? []
        return gateways.contains(.string(MQTTSettings.gateway))
    }

    /// Whether enough is known to announce the device.
    var isComplete: Bool { hello != nil && commands != nil }

    mutating func take(sounds answer: JSONValue) {
        sounds = (answer.arrayValue ?? []).compactMap(\.objectValue).compactMap { sound in
            guard let number = sound["number"]?.integerValue, let name = sound["name"]?.stringValue else { return nil }
            return Sound(number: number, name: name)
        }
    }

    /// Only sound files: those whose format is known.
    mutating func take(files answer: JSONValue) {
        files = (answer.arrayValue ?? []).compactMap(\.objectValue).compactMap { file in
            file["format"]?.stringValue == nil ? nil : file["name"]?.stringValue
        }
    }

    mutating func take(_ report: DoctorReport) {
        // Of what the device does not have, the doctor only warns.
        hasMotor = !report.findings.contains { $0.subject == "vibration" && $0.state == .warning }
    }
}
