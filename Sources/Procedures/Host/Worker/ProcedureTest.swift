package import Configuration
internal import Glibc
internal import JSON
package import Linux
internal import QuickConnect

/// Runs a procedure with the cases of its fixture: `NAME.test.json` beside it, a case or an array of cases `{name,
/// entries, arguments, now, expected}`, or `error`, a code, instead of `expected`. Each case has its own data.
package struct ProcedureTest {
    private let settings: ProcedureSettings
    private let folders: ProcedureFolders
    private let environment: [String: String]
    private let data: String

    /// - Parameter data: an empty folder for the data of the cases, which its owner deletes with all in it.
    package init(
        _ settings: ProcedureSettings,
        _ folders: ProcedureFolders,
        data: String,
        environment: [String: String]
    ) {
        self.settings = settings
        self.folders = folders
        self.data = data
        self.environment = environment
    }

    /// Gives up all but what these tests read and write, before anything of somebody else's runs.
    /// - Parameter folders: those of all tests of this process.
    package static func confine(_ folders: [ProcedureFolders], data: String) throws(SystemCallError) {
        setenv("SQLITE_TMPDIR", data, 1)
        try Confinement(readable: folders.flatMap(\.readable), writable: [data]).enter()
    }

    /// A case of the fixture.
    private struct Case {
        var name: String
        var entries: [Entry]
        var arguments: JSONValue
        var now: EntryDate?
        var expected: JSONValue?
        var error: String?

        private static let members = ["name", "entries", "arguments", "now", "expected", "error"]

        init(_ json: JSONValue, number: Int) throws(StoreError) {
            guard let object = json.objectValue else { throw StoreError(.invalid, "a case is an object") }
            if let unknown = object.names.first(where: { !Self.members.contains($0) }) {
                throw StoreError(
                    .invalid,
                    "a case has no member '\(unknown)': it has \(Self.members.joined(separator: ", "))"
                )
            }
            name = object["name"]?.stringValue ?? "case \(number)"
            if let text = object["now"]?.stringValue { now = try EntryDate(text) }
            entries = []
            let date = if let now { now } else { try EntryDate("2000-01-01") }
            for entry in object["entries"]?.arrayValue ?? [] { entries.append(try Entry(entry, now: date)) }
            arguments = object["arguments"] ?? []
            expected = object["expected"]
            error = object["error"]?.stringValue
            guard (expected == nil) != (error == nil), arguments.arrayValue != nil else {
                throw StoreError(.invalid, "\(name) needs arguments, an array, and either expected or error")
            }
        }
    }

    /// Runs all cases of a procedure, and reports their results.
    /// - Parameters:
    ///   - name: the procedure.
    ///   - fixture: the file with the cases; nil: `NAME.test.json` beside it.
    ///   - report: gets a line for each case.
    /// - Returns: whether all succeeded.
    package func run(_ name: String, fixture: String? = nil, _ report: (String) -> Void) -> Bool {
        guard let file = folders.file(name) else {
            report("FAIL  there is no procedure '\(name)'")
            return false
        }
        let path = fixture ?? "\(file.path.dropLast(3)).test.json"
        let cases: [Case]
        do throws(StoreError) {
            cases = try read(path)
        } catch {
            report("FAIL  \(path): \(error)")
            return false
        }
        // The engine's time limit does not end an endless chain of promises.
        defer { alarm(0) }
        var isGood = true
        for one in cases {
            alarm(UInt32(clamping: Int(settings.seconds.rounded(.up)) + 2))
            let problem = problem(of: one, name)
            if problem != nil { isGood = false }
            report(problem.map { "FAIL  \(name): \(one.name): \($0)" } ?? "ok    \(name): \(one.name)")
        }
        return isGood
    }

    private func read(_ path: String) throws(StoreError) -> [Case] {
        let read = FileText.read(path, maximumBytes: 64 << 20)
        let text = try read.mapError { StoreError(.unavailable, $0.message) }.get()
        let json: JSONValue
        do {
            json = try JSONParser.parse(text)
        } catch {
            throw StoreError(.invalid, error.message)
        }
        var cases: [Case] = []
        for (index, one) in (json.arrayValue ?? [json]).enumerated() { cases.append(try Case(one, number: index + 1)) }
        return cases
    }

    private func problem(of one: Case, _ name: String) -> String? {
        let data = "\(self.data)/data.db"
        defer { for file in DataFile.files(of: data) { unlink(file) } }
        do throws(StoreError) {
            try DataStore(data).save(one.entries)
        } catch {
            return "\(error)"
        }
        guard let worker = ProcedureWorker(settings, folders, data: data, environment: environment) else {
            return "there is not enough memory to run it"
        }
        do throws(ProcedureError) {
            let now = one.now.map { Double($0.milliseconds) }
            let answer = try worker.execute(name, one.arguments.text, now: now)
            guard let expected = one.expected else { return "expected the error \(one.error ?? ""), got \(answer)" }
            let value = (try? JSONParser.parse(answer)) ?? .null
            return Self.isSame(value, expected) ? nil : "expected \(expected.text), got \(answer)"
        } catch {
            if error.code.rawValue == one.error { return nil }
            let place = error.place["line"].map { " (\(error.place["file"]?.stringValue ?? ""):\($0.text))" } ?? ""
            return "\(error.code.rawValue): \(error.message)\(place)"
        }
    }

    /// Whether both are the same: `1` and `1.0` are, and objects with their members in another order.
    private static func isSame(_ one: JSONValue, _ other: JSONValue) -> Bool {
        switch (one, other) {
        case (.array(let one), .array(let other)):
            one.count == other.count && zip(one, other).allSatisfy(isSame)
        case (.object(let one), .object(let other)):
            one.count == other.count && one.allSatisfy { name, value in other[name].map { isSame(value, $0) } ?? false }
        default: one == other || one.numberValue != nil && one.numberValue == other.numberValue
        }
    }
}
