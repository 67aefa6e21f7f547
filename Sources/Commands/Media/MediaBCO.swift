import Concurrency
import JSON
import QuickConnect

/// `media [list]`: the files of the media folder, as [{name, seconds, format, bytes}]; `media ["remove", file]`
/// deletes one.
struct MediaBCO: WaitingBCO {
    let touchesDevice = true
    private let library: any MediaLibrary

    init(_ library: any MediaLibrary) { self.library = library }

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        switch (call.string(0), call.string(1)) {
        case ("remove", let file?):
            let removed = library.remove(file)
            return .wait { () async throws(CommandError) in
                try await removed.value()
                return .result(.null)
            }
        case ("remove", nil):
            throw .invalid("/1", expected: "file, the name of the file to remove")
        case (_, _?):
            throw .invalid("/1", expected: "nothing: a list is of all files")
        default:
            let listed = library.list()
            return .wait { () async throws(CommandError) in .result(.array(try await listed.value().map(\.json))) }
        }
    }
}

extension MediaFile {
    var json: JSONValue {
        [
            "name": .string(name), "seconds": seconds.map { .number($0) } ?? .null,
            "format": format.map { .string($0) } ?? .null, "bytes": .integer(Int64(bytes)),
        ]
    }
}
