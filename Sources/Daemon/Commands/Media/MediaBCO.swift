import Concurrency
import JSON
import QuickConnect

/// `media`: lists the files of the media folder, as [{name, seconds, format, bytes, owner}], removes one, or reads or
/// writes a piece of one.
struct MediaBCO: WaitingBCO {
    let touchesDevice = true
    private let library: any MediaLibrary
    private let transfer: any MediaTransfer
    private let permissions: Permissions

    init(_ library: any MediaLibrary, _ transfer: any MediaTransfer, _ permissions: Permissions) {
        self.library = library
        self.transfer = transfer
        self.permissions = permissions
    }

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        let rights = permissions.fileRights(of: call)
        switch try MediaRequest(call) {
        case .list:
            let listed = library.list()
            return .wait { () async throws(CommandError) in .result(.array(try await listed.value().map(\.json))) }
        case .remove(let file):
            return Self.wait(for: library.remove(file, for: rights))
        case .read(let file, let offset, let bytes, let isTagged):
            let read = transfer.read(file, from: offset, atMost: bytes, for: rights, on: call.connection)
            return .wait { () async throws(CommandError) in .result(try await read.value().json(isTagged: isTagged)) }
        case .write(let piece):
            return Self.wait(for: transfer.write(piece, for: rights, on: call.connection))
        }
    }

    private static func wait(for done: Promise<Void>) -> Awaited<BusinessOutcome> {
        .wait { () async throws(CommandError) in
            try await done.value()
            return .result(.null)
        }
    }
}

extension MediaFile {
    /// `shared` is absent unless it is true.
    var json: JSONValue {
        var members: JSONObject = [
            "name": .string(name), "seconds": seconds.map { .number($0) } ?? .null,
            "format": format.map { .string($0) } ?? .null, "bytes": .integer(Int64(bytes)),
            "owner": owner.json(account: account),
        ]
        if isShared { members["shared"] = true }
        return .object(members)
    }
}

extension MediaPiece {
    func json(isTagged: Bool) -> JSONValue {
        var members: JSONObject = [
            "data": .string(data), "offset": .integer(Int64(offset)), "size": .integer(Int64(size)),
        ]
        if isTagged { (members["tag"], members["modified"]) = (.string(tag), .integer(Int64(modified))) }
        return .object(members)
    }
}
