import Configuration
import Glibc
import Linux
import Procedures

/// The service of stored procedures, the processes that it starts, and their tests.
extension QuickConnectScripts {
    /// Its own folders: what it keeps is another user's than what scripts keep.
    private func dataFolders(_ environment: [String: String]) -> StandardFolders {
        StandardFolders(environment, service: "quickconnect-data")
    }

    private func procedureFolders(_ folders: StandardFolders) -> ProcedureFolders {
        ProcedureFolders(
            configuration: procedureFolder ?? folders.procedures,
            fetched: "\(folders.state)/procedures",
            shipped: folders.shippedProcedures
        )
    }

    func procedureHost(_ settings: Settings, _ paths: [String], _ environment: [String: String]) throws -> Int32 {
        let folders = dataFolders(environment)
        var command = [OwnProcess.program]
        if let config { command += ["--config", config] }
        if let procedureFolder { command += ["--procedure-folder", procedureFolder] }
        let host = try ProcedureHost(
            settings.procedureSettings,
            procedureFolders(folders),
            changes: {
                guard let new = try? loadSettings(environment) else { return [] }
                return settings.changes(in: new).filter { Settings.reader(of: $0) == "quickconnect-data" }
            },
            data: "\(folders.state)/data.db",
            staging: folders.fetched,
            paths: paths,
            command: command,
            environment: environment
        )
        return host.run()
    }

    func procedureWorker(_ settings: Settings, _ environment: [String: String]) -> Int32 {
        guard let host = environment[ProcedureWorker.hostVariable].flatMap({ pid_t($0) }), host == getppid() else {
            Descriptor.write("quickconnect-scripts: --run-procedures is its own host's to say\n", to: STDERR_FILENO)
            return 2
        }
        let folders = dataFolders(environment)
        return ProcedureWorker.run(
            settings.procedureSettings,
            procedureFolders(folders),
            data: "\(folders.state)/data.db",
            environment: environment,
            host: host
        )
    }

    /// Parses a fetched set, and prints what is wrong with it.
    static func checkSet(_ folder: String) -> Int32 {
        guard let mistake = ProcedureSetCheck.run(folder) else { return 0 }
        Descriptor.write("\(mistake)\n", to: STDERR_FILENO)
        return 1
    }

    /// Runs the cases of each procedure that is named, by its name or its file, in a process of its own: that one is confined,
    /// and this one deletes what it leaves.
    func testProcedures(_ settings: Settings, _ environment: [String: String]) -> Int32 {
        if let folder = testFolder { return testProcedures(settings, environment, data: folder) }
        let folder: String
        do throws(SystemCallError) {
            folder = try Folders.makeTemporary("\(environment["TMPDIR"] ?? "/tmp")/quickconnect-test")
        } catch {
            Descriptor.write("quickconnect-scripts: no folder for the tests: \(error)\n", to: STDERR_FILENO)
            return 1
        }
        defer {
            for name in FileText.names(in: folder) ?? [] { unlink("\(folder)/\(name)") }
            rmdir(folder)
        }
        let words = ["--test-folder", folder] + CommandLine.arguments.dropFirst()
        guard let child = try? Program.start([OwnProcess.program] + words) else {
            Descriptor.write("quickconnect-scripts: no process for the tests can be started\n", to: STDERR_FILENO)
            return 1
        }
        return Program.wait(for: child).shellStatus
    }

    private func testProcedures(_ settings: Settings, _ environment: [String: String], data: String) -> Int32 {
        let standard = procedureFolders(dataFolders(environment))
        let tests = testProcedure.map { word -> (name: String, folders: ProcedureFolders) in
            guard word.hasSuffix(".js") else { return (word, standard) }
            var folders = standard
            folders.configuration = Folders.parent(of: word) ?? "."
            return (String(word.split(separator: "/").last?.dropLast(3) ?? ""), folders)
        }
        do throws(SystemCallError) {
            try ProcedureTest.confine(tests.map(\.folders), data: data)
        } catch {
            Descriptor.write("quickconnect-scripts: the tests cannot be confined: \(error)\n", to: STDERR_FILENO)
            return 1
        }
        let results = tests.map { name, folders in
            let test = ProcedureTest(settings.procedureSettings, folders, data: data, environment: environment)
            return test.run(name) { Descriptor.write("\($0)\n", to: STDOUT_FILENO) }
        }
        return results.allSatisfy { $0 } ? 0 : 1
    }
}
