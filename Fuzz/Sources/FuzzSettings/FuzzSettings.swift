import Fuzzer
import JSON
import Linux

@testable import Configuration
@testable import QuickConnect

@main enum FuzzSettings {
    static func main() { fuzz(read) }
}

/// What libFuzzer calls with each input: a file of an owner, read as the settings and as a file of mappings.
private func read(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: bytes, count: count)
    guard let text = String(validating: bytes, as: UTF8.self) else { return 0 }
    let lines = 1 + bytes.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") || $0 >= 0x80 }
    readSettings(text, lines)
    readMappings(text, lines)
    return 0
}

private let path = "/etc/quickconnect/test.yaml"
private let folders = StandardFolders(isRoot: true, environment: [:], program: "/nowhere/bin/quickconnectd")

/// - Parameter lines: at least as many as YAML counts.
private func check(_ mistakes: [ConfigurationMistake], in lines: Int) {
    for mistake in mistakes {
        let place = mistake.location
        check(place.file == path && (1...lines + 1).contains(place.line) && place.column > 0, "a mistake has its place")
        check(!mistake.message.isEmpty, "a mistake is told in words")
    }
}

// MARK: Settings

private func readSettings(_ text: String, _ lines: Int) {
    let (settings, mistakes) = readSettings(text)
    let (_, again) = readSettings(text)
    check(mistakes == again, "the same text has the same mistakes")
    check(mistakes, in: lines)
    lookAtSettings(settings)
}

private func readSettings(_ text: String) -> (Settings, [ConfigurationMistake]) {
    var settings = Settings(folders)
    var reader = SettingsReader(path: path, text: text)
    var keys = SettingKeys()
    reader.read(into: &settings, &keys)
    return (settings, reader.mistakes)
}

/// Whatever is wrong with a file, what was read of it is what a program can work with.
private func lookAtSettings(_ settings: Settings) {
    let limits = settings.limits
    check(limits.lineBytes >= 1024 && (1...4096).contains(limits.depth), "a line has bounds")
    check(limits.connections > 0 && limits.callsPerConnection > 0, "somebody may call")
    let scripts = settings.scriptLimits
    for seconds in [
        limits.stalledSeconds, limits.shutdownSeconds, settings.recordingLimit, scripts.cpuSeconds,
        scripts.handlerSeconds, scripts.syncSeconds, scripts.shareSeconds, scripts.timerSeconds,
        settings.web.sessionSeconds,
    ] { check(seconds > 0 && seconds < 1e9, "a time is one") }
    for socket in settings.sockets {
        check(socket.connections > 0 && socket.mode & ~0o777 == 0, "a socket can be made")
    }
    for path in [settings.sounds, settings.media, settings.track, settings.scripts] {
        check(path.hasPrefix("/"), "a path needs no folder in front")
    }
    check(
        HostAndPort("[\(settings.gpsd.host)]:\(settings.gpsd.port)") == settings.gpsd,
        "a host is read as it is written"
    )
    if let matrix = settings.motionMatrix {
        check(matrix.count == 3 && matrix.allSatisfy { $0.count == 3 && $0.allSatisfy(\.isFinite) }, "3 by 3")
    }
    check(settings.quotaBytes >= 0 && settings.quotaFiles >= 0, "a quota is not negative")
}

// MARK: Mappings

private func readMappings(_ text: String, _ lines: Int) {
    var reader = MappingReader(path: path, text: text)
    let declarations = reader.read()
    check(reader.mistakes, in: lines)
    var builder = MappingTableBuilder()
    for declaration in declarations { builder.add(declaration) }
    for mistake in reader.mistakes { builder.note(mistake) }
    builder.isIncomplete = reader.isUnreadable
    do throws(ConfigurationMistakes) {
        let (table, warnings) = try builder.build(
            catalog: catalog,
            scripts: { HandlerCommandObject($0, handlers: .none) },
            declared: { name, _ in ValueCommandObject(name, values) },
            accounts: FewAccounts()
        )
        check(reader.mistakes.isEmpty, "what has a mistake makes no table")
        check(warnings, in: lines)
        for entry in table.entries { look(at: entry, table) }
    } catch {
        check(!error.mistakes.isEmpty, "where there is no table, there is a mistake")
        check(error.mistakes, in: lines)
    }
}

private func look(at entry: MappingEntry, _ table: MappingTable) {
    check(!entry.command.isEmpty && table[entry.command] === entry, "an entry is found under its name")
    check(!MappingDeclaration.reservedNames.contains(entry.command), "a reserved name is no command")
    if let timeout = entry.timeout { check(timeout > .zero && timeout <= .seconds(3660 * 24 * 3600), "a time is one") }
    if let rule = entry.rule { check(!rule.words.isEmpty, "a rule can be told") }
    for parameter in entry.parameters?.parameters ?? [] {
        check(!parameter.expectation.isEmpty, "a parameter can be told")
        if let value = parameter.defaultValue { check(parameter.fits(value), "a default fits its parameter") }
    }
    guard let value = entry.value else { return }
    check(value.initial == .null || value.fitting(value.initial) == value.initial, "what a value is at first fits it")
    for sample in samples {
        guard let accepted = value.accept(sample) else { continue }
        check(value.fitting(accepted) == accepted, "what a value became is still what it may be")
    }
}

private let samples: [JSONValue] = [
    nil, true, 0, 1, -7, 1.5, 1e300, -1e300, .integer(.max), .integer(.min), "", "on", "é", [], [1], [:], ["a": 1],
]

private struct FewAccounts: Accounts {
    func uid(ofUser name: String) -> UInt32? { name == "ann" ? 1000 : nil }
    func gid(ofGroup name: String) -> UInt32? { name == "audio" ? 29 : nil }
}

private let values = ValueStore(EventHub(limits: Limits()))

/// Command objects of the names that the shipped mappings have, which do nothing.
private let catalog: [String: any CommandObject] = {
    var catalog: [String: any CommandObject] = [:]
    for name in [
        "Location", "LocationVal", "PlayAudioVal", "PlaySound", "Ping", "RecordAudioVal", "SubscribeVal", "VibrateVal",
        "VolumeVal", "PickerVal", "Hello", "Media", "Volume",
    ] {
        if name.hasSuffix("Val") { catalog["\(name)CO"] = IdleValCO() } else { catalog["\(name)BCO"] = IdleBCO() }
        catalog["\(name)VCO"] = IdleVCO()
    }
    return catalog
}()

private struct IdleValCO: ValCO {
    func validate(_ call: borrowing Call) throws(CommandError) -> ValidationOutcome { .accept }
}

private struct IdleBCO: BCO {
    func handle(_ call: borrowing Call) throws(CommandError) -> BusinessOutcome { .proceed }
}

private struct IdleVCO: VCO {
    func show(_ call: borrowing Call) throws(CommandError) -> ViewOutcome { .proceed }
}
