internal import Glibc
internal import JSON
internal import Layout
internal import Linux
internal import QuickConnect
internal import QuickConnectClient

/// The macros' files and their versions: the parts of the command `macro` that need no JavaScript.
///
/// The macro process handles the call first: it has parsed a macro to be saved, and runs a macro to be run.
final class MacroLibrary {
    /// The handler for this.
    static let handler = "macroFiles"

    let folders: MacroFolders
    private let versions: MacroVersions
    private let watched: [ScriptFolder]
    private let log: (String, String) -> Void
    /// The files whose current text is stored as the newest version.
    private var seen: [String: (path: String, version: ScriptFolder.Version?)] = [:]
    private var toldProblems: Set<String> = []

    init(_ folders: MacroFolders, log: @escaping (String, String) -> Void) {
        self.folders = folders
        self.log = log
        versions = MacroVersions(folder: folders.versions)
        // A missing folder cannot be watched and would have to be polled.
        try? Folders.make(folders.saved)
        watched = MacroFolders.Place.allCases.map { ScriptFolder(path: folders.path(of: $0)) }
    }

    /// Readable when something has changed.
    var descriptors: [Int32] { watched.map(\.descriptor) }

    func drain() {
        for folder in watched { folder.drain() }
    }

    /// Finds macros that were changed by hand, and stores their versions. Returns whether there were any, and whether
    /// all folders exist and are watched.
    func look() -> (isChanged: Bool, isWatching: Bool) {
        var isWatching = true
        for folder in watched where !folder.watch(alsoFoldersOf: []) { isWatching = false }
        let (files, problems) = folders.files()
        for problem in problems where toldProblems.insert(problem).inserted { log("warning", problem) }
        toldProblems.formIntersection(problems)
        let names = Set(files.map(\.name))
        let gone = seen.keys.filter { !names.contains($0) }
        for name in gone { seen[name] = nil }
        let changed = files.filter(refresh)
        return (!gone.isEmpty || !changed.isEmpty, isWatching)
    }

    /// Stores the version of a file that has changed. Returns whether it has.
    @discardableResult
    private func refresh(_ file: MacroFolders.File) -> Bool {
        let now = ScriptFolder.Version(file.path)
        if let seen = seen[file.name], seen.path == file.path, seen.version == now { return false }
        guard case .success(let text) = file.text() else { return false }
        seen[file.name] = (file.path, now)
        let newest = versions.newest(of: file.name)
        guard newest?.text != text else { return true }
        do throws(SystemCallError) {
            let number = (versions.numbers(of: file.name).last ?? 0) + 1
            try versions.add(MacroVersions.Version(number, text, by: nil), of: file.name)
        } catch {
            log("warning", "no version of \(file.path) is kept: \(folders.versions): \(error)")
        }
        return true
    }

    /// A line of a macro's file; nil if the file is not a macro's.
    func source(_ path: String, line: Int) -> String? {
        guard let file = folders.files().files.first(where: { $0.path == path }), case .success(let text) = file.text()
        else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.contains(line - 1) ? String(lines[line - 1]) : nil
    }

    // MARK: The command

    /// Answers the parts of the command that concern files, and returns whether a file has changed.
    func answer(_ call: HandlerCall) -> (Result<HandlerCall.Answer, HandlerCall.Failure>, isChanged: Bool) {
        let values = call.data.arrayValue ?? [call.data]
        let verb = values.first?.stringValue ?? ""
        let name = values.count > 1 ? values[1].stringValue ?? "" : ""
        do throws(HandlerCall.Failure) {
            let rest = Array(values.dropFirst(2))
            switch verb {
            case "list": return (.success(HandlerCall.Answer(list(mistakes(call)))), false)
            case "show": return (.success(HandlerCall.Answer(try show(name, mistakes(call)))), false)
            case "history": return (.success(HandlerCall.Answer(try history(name))), false)
            case "save": return (.success(HandlerCall.Answer(try save(name, rest, call))), true)
            case "revert": return (.success(HandlerCall.Answer(try revert(name, rest, call))), true)
            default:
                let verbs = "verb, one of list, show, run, trace, check, save, history, revert"
                throw HandlerCall.Failure.expected(verbs, at: "/0", got: values.first)
            }
        } catch {
            return (.failure(error), false)
        }
    }

    /// The macro process's syntax errors.
    private func mistakes(_ call: HandlerCall) -> JSONObject { call.results.first?.objectValue ?? [:] }

    private func list(_ mistakes: JSONObject) -> JSONValue {
        let (files, problems) = folders.files()
        let macros = files.map { file -> JSONValue in
            refresh(file)
            return .object(describe(file, mistakes))
        }
        return ["macros": .array(macros), "problems": .array(problems.map(JSONValue.string))]
    }

    private func show(_ name: String, _ mistakes: JSONObject) throws(HandlerCall.Failure) -> JSONValue {
        let file = try find(name)
        refresh(file)
        var members = describe(file, mistakes)
        switch file.text() {
        case .success(let text): members["text"] = .string(text)
        case .failure(let problem): throw HandlerCall.Failure(.unavailable, "\(file.path) \(problem.message)")
        }
        return .object(members)
    }

    private func describe(_ file: MacroFolders.File, _ mistakes: JSONObject) -> JSONObject {
        var members: JSONObject = [
            "name": .string(file.name), "from": .string(file.place.rawValue),
            "version": .integer(Int64(newestNumber(of: file.name))), "file": .string(file.path),
        ]
        if !file.shadows.isEmpty { members["shadows"] = .array(file.shadows.map(JSONValue.string)) }
        members["error"] = mistakes[file.name]
        return members
    }

    private func history(_ name: String) throws(HandlerCall.Failure) -> JSONValue {
        refresh(try find(name))
        return .array(versions.numbers(of: name).reversed().compactMap { versions[name, $0]?.json })
    }

    private func save(
        _ name: String,
        _ values: [JSONValue],
        _ call: HandlerCall
    ) throws(HandlerCall.Failure) -> JSONValue {
        guard MacroName.isValid(name), let text = values.first?.stringValue, mistakes(call)["checked"] == true else {
            throw HandlerCall.Failure(.invalid, "the text was not parsed, so it is not saved", field: "/2")
        }
        guard text.utf8.count <= MacroFolders.maximumBytes else {
            throw HandlerCall.Failure(.tooLarge, "a macro has at most \(MacroFolders.maximumBytes >> 10) KiB")
        }
        if let file = folders.file(name) { refresh(file) }
        let newest = newestNumber(of: name)
        if let base = try base(values.dropFirst().first), base != newest { throw isNewer(name, newest, than: base) }
        return try write(text, name, by: call.caller)
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
        guard numbers.contains(number), let version = versions[name, number] else {
            let sentence = "the macro '\(name)' has the versions \(numbers.map(String.init).joined(separator: ", "))"
            throw HandlerCall.Failure(.notFound, sentence, field: "/2")
        }
        return try write(version.text, name, by: call.caller, reverting: number)
    }

    // MARK: What they need

    private func find(_ name: String) throws(HandlerCall.Failure) -> MacroFolders.File {
        let files = folders.files().files
        if let file = files.first(where: { $0.name == name }) { return file }
        let question = NearestNames.question(name, among: files.map(\.name))
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
        let isSame = versions[name, newest]?.text == text
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
        seen[name] = (path, ScriptFolder.Version(path))
        return ["name": .string(name), "version": .integer(Int64(number)), "file": .string(path)]
    }

    private func replace(_ path: String, with text: String) throws(SystemCallError) {
        try Folders.make(folders.saved)
        try FileText.replace(path, with: text)
    }
}
