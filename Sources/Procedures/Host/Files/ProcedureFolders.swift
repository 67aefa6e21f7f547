internal import CLinux
internal import Configuration
internal import Glibc
internal import JSON
package import Linux
internal import QuickConnect
internal import QuickConnectClient

/// The folders of stored procedures: `NAME.js` in the configuration folder, then among the fetched ones, then among the
/// shipped ones. The first one with a name is used. Files are read for each call, so the next call uses a changed one.
package struct ProcedureFolders: Sendable {
    /// The kinds of folders.
    package enum Place: String, Sendable, CaseIterable {
        case configuration, fetched, shipped
    }

    /// The owner's folder. It is never written to.
    package var configuration: String
    package var fetched: String
    package var shipped: String

    package init(configuration: String, fetched: String, shipped: String) {
        self.configuration = configuration
        self.fetched = fetched
        self.shipped = shipped
    }

    /// The same, bound to the present set of fetched files, which may be replaced meanwhile.
    func settled() -> ProcedureFolders {
        guard let path = realpath(fetched, nil) else { return self }
        defer { free(path) }
        var folders = self
        folders.fetched = String(cString: path)
        return folders
    }

    /// What the process of a procedure reads.
    var readable: [String] { Place.allCases.map(path) }

    func path(of place: Place) -> String {
        switch place {
        case .configuration: configuration
        case .fetched: fetched
        case .shipped: shipped
        }
    }

    /// A procedure's file.
    package typealias File = FileLayers<Place>.File

    private var layers: FileLayers<Place> {
        let kind = FileLayers<Place>.Kind("procedure", maximumBytes: ProcedureSettings.fileBytes) { name in
            ProcedureName.isName(name) ? nil : "a procedure's name has letters, digits, _ and -"
        }
        return FileLayers(Place.allCases.map { ($0, path(of: $0)) }, kind)
    }

    /// The files in the folders now, sorted by the bytes of their names, and problems there, in words.
    package func files() -> (files: [File], problems: [String]) { layers.files() }

    /// The file of a procedure; nil if there is none.
    package func file(_ name: String) -> File? { layers.file(name) }

    /// The error for a name of which there is no file, with the nearest one.
    func missing(_ name: String) -> HandlerCall.Failure {
        let question = NearestNames.question(name, among: files().files.map(\.name))
        return HandlerCall.Failure(.notFound, "there is no procedure '\(name.prefix(100))'\(question)", field: "/1")
    }

    /// A file in the folder `lib` of one of the folders. Nothing leads out of it, neither `..` nor a symbolic link.
    func library(_ name: String) throws(PlainError) -> (path: String, text: String) {
        guard name.hasPrefix("lib/"), name.utf8.count < 200, !name.utf8.contains(0) else {
            throw PlainError("load takes the name of a file below lib/, such as 'lib/dates.js'")
        }
        for place in Place.allCases {
            let folder = "\(path(of: place))/lib"
            let root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard root >= 0 else { continue }
            defer { close(root) }
            let file = qc_open_beneath(root, String(name.dropFirst(4)), O_RDONLY | O_NONBLOCK, 0)
            if file == -ENOENT { continue }
            guard file >= 0 else { throw PlainError("\(name): \(SystemCallError.text(-file))") }
            let read = FileText.read(descriptor: file, maximumBytes: ProcedureSettings.fileBytes)
            return ("\(path(of: place))/\(name)", try read.mapError { PlainError("\(name) \($0.message)") }.get())
        }
        throw PlainError("there is no file \(name) beside the procedures")
    }
}

extension ProcedureFolders.File {
    /// In the form of `procedures list`.
    var json: JSONObject {
        JSONObject(present: [
            "name": .string(name), "from": .string(place.rawValue), "file": .string(path),
            "shadows": shadows.isEmpty ? nil : .array(shadows.map(JSONValue.string)),
        ])
    }
}
