import JSON
import Linux
import QuickConnect

extension MappingTable {
    /// Warnings of schedules that run a procedure of which none of the folders has a file.
    /// - Parameter folders: those of the owner's and of the shipped procedures.
    func warningsOfProcedures(in folders: [String]) -> [ConfigurationMistake] {
        let calls = entries.compactMap { entry -> (name: String, at: SourceLocation, schedule: String)? in
            guard let call = entry.schedule?.call, let name = call.parameters.first?.stringValue else { return nil }
            let steps = self[call.command.value]?.steps(of: .business) ?? []
            guard steps.contains(where: { $0.name == "script:execute" }) else { return nil }
            return (name, call.command.location, entry.command)
        }
        guard !calls.isEmpty else { return [] }
        let files = folders.flatMap { FileText.names(in: $0) ?? [] }
        let names = Set(files.filter { $0.hasSuffix(".js") }.map { String($0.dropLast(3)) })
        return calls.filter { !names.contains($0.name) }.sorted { $0.at < $1.at }.map { name, location, schedule in
            let near = NearestNames.question(name, among: names.sorted())
            let says =
                "the schedule '\(schedule)': \(folders.joined(separator: " and ")) have no procedure '\(name.shortened)'\(near)"
            return ConfigurationMistake(says, at: location)
        }
    }
}
