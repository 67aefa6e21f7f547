internal import Glibc
internal import JSON
internal import Linux
internal import QuickConnect
internal import QuickConnectClient

/// The macros' files and their versions: the parts of the command `macro` that need no JavaScript, on the keeper's thread.
///
/// The macro process handles the call first: it knows which names are taken, and runs a macro to be run. A text has been
/// checked before it comes here.
final class MacroLibrary {
    let folders: MacroFolders
    private let versions: MacroVersions
    private let log: (String, String) -> Void
    /// The files whose current text is stored as the newest version.
    private var seen: [ByteName: (path: String, version: ScriptFolder.Version?)] = [:]
    private var toldProblems: Set<String> = []
    /// What is wrong with the versions of macros, in words.
    private var damage: [ByteName: [String]] = [:]

    init(_ folders: MacroFolders, log: @escaping (String, String) -> Void) {
        self.folders = folders
        self.log = log
        versions = MacroVersions(folder: folders.versions)
    }

    /// Finds what is there, and stores the versions of macros that were changed by hand.
    func look() -> MacroListing {
        let (files, problems) = folders.files()
        for problem in problems where toldProblems.insert(problem).inserted { log("warning", problem) }
        toldProblems.formIntersection(problems)
        let names = Set(files.map { ByteName($0.name) })
        let gone = seen.keys.filter { !names.contains($0) }
        for name in gone { seen[name] = nil }
        let entries = files.map { file in
            refresh(file)
            return MacroListing.Entry(
                name: file.name,
                path: file.path,
                version: ScriptFolder.Version(file.path),
                json: describe(file)
            )
        }
        return MacroListing(entries: entries, problems: problems)
    }

    /// Stores the version of a file that has changed.
    private func refresh(_ file: MacroFolders.File) {
        let (key, now) = (ByteName(file.name), ScriptFolder.Version(file.path))
        if let seen = seen[key], seen.path == file.path, seen.version == now { return }
        guard case .success(let text) = file.text() else { return }
        seen[key] = (file.path, now)
        look(forDamageOf: file.name)
        guard (try? versions.newest(of: file.name)?.text) != text else { return }
        do throws(SystemCallError) {
            let number = (versions.numbers(of: file.name).last ?? 0) + 1
            try versions.add(MacroVersions.Version(number, text, by: nil), of: file.name)
        } catch {
            log("warning", "no version of \(file.path) is kept: \(folders.versions): \(error)")
        }
    }

    private func look(forDamageOf name: String) {
        let found = versions.damage(of: name)
        for problem in found where damage[ByteName(name)]?.contains(problem) != true { log("error", problem) }
        damage[ByteName(name)] = found.isEmpty ? nil : found
    }

    /// The text of a macro as it is now; nil if its file has gone.
    func text(of entry: MacroListing.Entry) -> Result<String, FileText.Problem>? {
        let text = FileText.read(entry.path, maximumBytes: MacroFolders.maximumBytes)
        if case .failure = text, !FileText.exists(entry.path) { return nil }
        return text
    }

    // MARK: The command

    /// Answers a call for one macro's files: `show`, `history`, `save` with a text that has been checked, `revert`.
    func answer(_ call: HandlerCall) -> Result<HandlerCall.Answer, HandlerCall.Failure> {
        let values = call.data.arrayValue ?? [call.data]
        let name = values.count > 1 ? values[1].stringValue ?? "" : ""
        let rest = Array(values.dropFirst(2))
        return Result { () throws(HandlerCall.Failure) in
            switch values.first?.stringValue {
            case "show": HandlerCall.Answer(try show(name, call))
            case "history": HandlerCall.Answer(try history(name))
            case "save": HandlerCall.Answer(try save(name, rest, call))
            case "revert": HandlerCall.Answer(try revert(name, rest, call))
            default: throw Self.unknownVerb(values.first)
            }
        }
    }

    static func unknownVerb(_ verb: JSONValue?) -> HandlerCall.Failure {
        .expected("verb, one of list, show, run, trace, check, save, history, revert", at: "/0", got: verb)
    }

    private func show(_ name: String, _ call: HandlerCall) throws(HandlerCall.Failure) -> JSONValue {
        let file = try find(name)
        refresh(file)
        var members = describe(file)
        // The macro process's syntax errors.
        members["error"] = call.results.first?.objectValue?[name]
        let text = file.text().mapError { HandlerCall.Failure(.unavailable, "\(file.path) \($0.message)") }
        members["text"] = .string(try text.get())
        return .object(members)
    }

    private func describe(_ file: MacroFolders.File) -> JSONObject {
        JSONObject(present: [
            "name": .string(file.name), "from": .string(file.place.rawValue),
            "version": .integer(Int64(newestNumber(of: file.name))), "file": .string(file.path),
            "shadows": file.shadows.isEmpty ? nil : .array(file.shadows.map(JSONValue.string)),
            "damaged": damage[ByteName(file.name)].map { .array($0.map(JSONValue.string)) },
        ])
    }

    /// A line of the daemon has at most 4 MiB.
    private static let historyBytes = 3 << 20

    private func history(_ name: String) throws(HandlerCall.Failure) -> JSONValue {
        refresh(try find(name))
        look(forDamageOf: name)
        var found: [JSONValue] = []
        var bytes = 0
        for number in versions.numbers(of: name).reversed() {
            do throws(PlainError) {
                guard let version = try versions.read(number, of: name) else { continue }
                bytes += version.text.utf8.count
                found.append(version.json)
            } catch {
                found.append(["version": .integer(Int64(number)), "damaged": .string(error.description)])
            }
            guard bytes <= Self.historyBytes else {
                let sentence = "the versions of '\(name)' have more than \(Self.historyBytes >> 20) MiB: they are in "
                throw HandlerCall.Failure(.tooLarge, sentence + "\(folders.versions)/\(name)")
            }
        }
        return .array(found)
    }

    private func save(
        _ name: String,
        _ values: [JSONValue],
        _ call: HandlerCall
    ) throws(HandlerCall.Failure) -> JSONValue {
        guard MacroName.isValid(name), let text = values.first?.stringValue else {
            throw HandlerCall.Failure(.invalid, "the text was not checked, so it is not saved", field: "/2")
        }
        if let file = folders.file(name) { refresh(file) }
        let newest = newestNumber(of: name)
        if let base = try base(values.dropFirst().first), base != newest { throw isNewer(name, newest, than: base) }
        return try write(FileText.plain(text), name, by: call.caller)
    }

    private func revert(
        _ name: String,
        _ values: [JSONValue],
        _ call: HandlerCall
    ) throws(HandlerCall.Failure) -> JSONValue {
        refresh(try find(name))
        let numbers = versions.numbers(of: name)
        guard let number = values.first.map({ $0.integerValue.map(Int.init) ?? -1 }) ?? numbers.dropLast().last else {
            throw HandlerCall.Failure(.notFound, "the macro '\(name)' has no version before this one")
        }
        let version: MacroVersions.Version?
        do throws(PlainError) {
            version = numbers.contains(number) ? try versions.read(number, of: name) : nil
        } catch {
            throw HandlerCall.Failure(.unavailable, "\(error)", field: "/2")
        }
        guard let version else {
            let sentence = "the macro '\(name)' has the versions \(numbers.map(String.init).joined(separator: ", "))"
            throw HandlerCall.Failure(.notFound, sentence, field: "/2")
        }
        return try write(version.text, name, by: call.caller, reverting: number)
    }

    // MARK: What they need

    private func find(_ name: String) throws(HandlerCall.Failure) -> MacroFolders.File {
        if let file = folders.file(name) { return file }
        let question = NearestNames.question(name, among: folders.files().files.map(\.name))
        throw HandlerCall.Failure(.notFound, "there is no macro '\(name)'\(question)", field: "/1")
    }

    private func newestNumber(of name: String) -> Int { versions.numbers(of: name).last ?? 0 }

    /// The version that the caller has edited; nil if unknown.
    private func base(_ options: JSONValue?) throws(HandlerCall.Failure) -> Int? {
        guard let options, options != .null else { return nil }
        guard let members = options.objectValue, members.allSatisfy({ $0.name == "base" }) else {
            throw HandlerCall.Failure(.invalid, "the parameter after the text must be {base: VERSION}", field: "/3")
        }
        guard let base = members["base"], base != .null else { return nil }
        guard let number = base.integerValue, number >= 0 else {
            throw HandlerCall.Failure(.invalid, "base is the number of a version", field: "/3/base")
        }
        return Int(clamping: number)
    }

    private func isNewer(_ name: String, _ newest: Int, than base: Int) -> HandlerCall.Failure {
        var failure = HandlerCall.Failure(
            .busy,
            "the macro '\(name)' has version \(newest), and this text was made of version \(base): nothing is saved"
        )
        failure.details = ["macro": .string(name), "base": .integer(Int64(base)), "version": .integer(Int64(newest))]
        return failure
    }

    /// Writes a text: first its version, then the file, so that no text is lost.
    private func write(
        _ text: String,
        _ name: String,
        by caller: JSONObject,
        reverting: Int? = nil
    ) throws(HandlerCall.Failure) -> JSONValue {
        let file = folders.file(name)
        if let file, file.place == .configuration {
            throw HandlerCall.Failure(
                .unsupported,
                "the macro '\(name)' is the owner's file \(file.path): change it there"
            )
        }
        if file == nil, folders.files().files.count >= MacroFolders.maximumCount {
            throw HandlerCall.Failure(.overloaded, "there are \(MacroFolders.maximumCount) macros already")
        }
        let path = "\(folders.saved)/\(name).js"
        let newest = newestNumber(of: name)
        let isSame = (try? versions.read(newest, of: name)?.text) == text
        let number = isSame ? newest : newest + 1
        do throws(SystemCallError) {
            if !isSame {
                let version = MacroVersions.Version(number, text, by: caller, reverting: reverting)
                try versions.add(version, of: name)
            }
            if file?.place != .saved || !isSame { try replace(path, with: text) }
        } catch {
            if !isSame { versions.remove(number, of: name) }
            throw HandlerCall.Failure(.unavailable, "'\(name)' cannot be saved in \(folders.saved): \(error)")
        }
        seen[ByteName(name)] = (path, ScriptFolder.Version(path))
        return ["name": .string(name), "version": .integer(Int64(number)), "file": .string(path)]
    }

    private func replace(_ path: String, with text: String) throws(SystemCallError) {
        try Folders.make(folders.saved)
        try FileText.replace(path, with: text)
    }
}
