import Configuration
import Linux
import Pins
import QuickConnect

// What is done without a daemon that runs.
extension Daemon {
    /// Checks the mappings and what the settings name, without touching a device.
    /// - Parameter mistakes: those of the settings.
    func check(_ mistakes: [ConfigurationMistake], _ environment: [String: String]) -> Int32 {
        Self.show(Self.missingFolder(environment), as: "warning: ")
        let mistakes = mistakes + Sockets(settings, accounts).mistakes
        do throws(ConfigurationMistakes) {
            let table: MappingTable
            let warnings: [ConfigurationMistake]
            do throws(ConfigurationMistakes) {
                (table, warnings) = try loadTable()
            } catch {
                throw ConfigurationMistakes(mistakes + error.mistakes)
            }
            guard mistakes.isEmpty else { throw ConfigurationMistakes(mistakes) }
            Self.show(warnings + self.warnings(settings, table), as: "warning: ")
            Self.show(ownersNotes(table) + [table.noteOfOutputs].compactMap { $0 }, as: "note: ")
            print("The settings and the mappings of \(table.count) commands are valid.")
            return ExitStatus.clean
        } catch {
            Self.show(error.mistakes)
            return ExitStatus.mistake
        }
    }

    /// What is odd in settings, and in the mappings beside them. Blocks.
    func warnings(_ settings: Settings, _ table: MappingTable) -> [ConfigurationMistake] {
        ofLines(settings, table) + ofGateways(settings, table) + settings.sockets.flatMap { $0.warnings(table) }
            + NamesDoctor(settings) { table.entries }.mistakes + missingTracks(settings) + settings.kiosk.warnings
    }

    /// Where the variable names no folder: what the owner has is elsewhere then, and nobody reads it. Empty if it does.
    static func missingFolder(_ environment: [String: String]) -> [ConfigurationMistake] {
        let variable = "CONFIGURATION_DIRECTORY"
        guard let path = environment[variable]?.split(separator: ":").first.map(String.init) else { return [] }
        if path.hasPrefix("/"), FileText.exists(path) { return [] }
        let says = path.hasPrefix("/") ? "there is no folder \(path)" : "'\(path)' is not used: write a whole path"
        return [ConfigurationMistake(says, at: .outside(variable))]
    }

    /// A line for each, whatever names the files and their entries have.
    static func show(_ mistakes: [ConfigurationMistake], as prefix: String = "") {
        for mistake in mistakes { print("\(prefix)\(mistake)".escapingControls, to: &standardError) }
    }

    /// Rules for the users of gateways that do not exist, or whose lists lack the entry.
    private func ofGateways(_ settings: Settings, _ table: MappingTable) -> [ConfigurationMistake] {
        let doctor = gatewayDoctor(Sockets(settings, accounts).gateways) { table.entries }
        return doctor.missing.flatMap { gateway in gateway.places.map { ConfigurationMistake(gateway.says, at: $0) } }
            + doctor.unlisted
    }

    /// Slips in the names of lines, where this machine has them. Looking at a chip takes no line.
    private func ofLines(_ settings: Settings, _ table: MappingTable) -> [ConfigurationMistake] {
        guard !settings.simulate else { return [] }
        let (lines, refusals) = GPIOChips().all()
        return refusals.isEmpty ? table.warningsOfLines(Set(lines.map(\.name))) : []
    }

    /// Tracks that the files name, and that are not there. They are only for the simulation.
    private func missingTracks(_ settings: Settings) -> [ConfigurationMistake] {
        [("track", settings.track), ("motion.replay", settings.motionTrack)].compactMap { key, path in
            guard settings.given[key] != nil, !FileText.exists(path) else { return nil }
            return ConfigurationMistake("there is no file \(path)", at: .outside("'\(key)'"))
        }
    }

    /// What an upgrade changes for the owner's own files.
    private func ownersNotes(_ table: MappingTable) -> [ConfigurationMistake] {
        let shipped = settings.mappings.count > 1 ? settings.mappings.first.map { "\($0.path)/" } : nil
        return table.handlerNotes.filter { note in shipped.map { !note.location.file.hasPrefix($0) } ?? true }
    }

    /// Returns all outputs that the mappings declare to their defaults, whatever mistakes they have: after an end of the daemon
    /// at which it could not.
    func releaseOutputs() -> Int32 {
        guard !settings.simulate else { return ExitStatus.clean }
        let problems = BoundHardware.release(MappingFiles.load(settings.mappings).values, KernelPins())
        for problem in problems { print(problem, to: &standardError) }
        return problems.isEmpty ? ExitStatus.clean : ExitStatus.failed
    }
}
