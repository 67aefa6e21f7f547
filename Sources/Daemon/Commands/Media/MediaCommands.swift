import Concurrency
import JSON
import QuickConnect

/// `media`: lists the files of the media folder, as [{name, seconds, format, bytes, owner}], removes one, or reads or
/// writes a piece of one.
struct MediaBCO: WaitingBCO {
    let touchesDevice = true
    let library: any MediaLibrary
    let transfer: any MediaTransfer
    let permissions: Permissions

    func handle(_ call: borrowing Call) throws(CommandError) -> Awaited<BusinessOutcome> {
        let rights = permissions.fileRights(of: call)
        switch try MediaRequest(call) {
        case .list:
            return .wait(for: library.list()) { .result(.array($0.map(\.json))) }
        case .remove(let file):
            return .wait(for: library.remove(file, for: rights)) { _ in .result(.null) }
        case .read(let file, let offset, let bytes, let isTagged):
            let read = transfer.read(file, from: offset, atMost: bytes, for: rights, on: call.connection)
            return .wait(for: read) { .result($0.json(isTagged: isTagged)) }
        case .write(let piece, let isTagged):
            return .wait(for: transfer.write(piece, for: rights, on: call.connection)) { written in
                .result(isTagged ? written?.json(isTagged: true) ?? .null : .null)
            }
        }
    }
}

extension MediaFile {
    /// `shared` is absent unless it is true.
    var json: JSONValue {
        JSONValue(present: [
            "name": .string(name), "seconds": seconds.map { .number($0) } ?? .null,
            "format": format.map { .string($0) } ?? .null, "bytes": .integer(Int64(bytes)),
            "owner": owner.json(account: account), "shared": isShared ? true : nil,
        ])
    }
}

extension MediaPiece {
    func json(isTagged: Bool) -> JSONValue {
        JSONValue(present: [
            "data": .string(data), "offset": .integer(Int64(offset)), "size": .integer(Int64(size)),
            "tag": isTagged ? .string(tag) : nil, "modified": isTagged ? .integer(Int64(modified)) : nil,
        ])
    }
}

extension UploadPiece.Condition {
    /// Nil if it is none.
    fileprivate init?(_ value: JSONValue) {
        if let isThere = value.boolValue {
            self = isThere ? .anyFile : .nothing
        } else if let tag = value.stringValue {
            self = .tags([tag])
        } else if let tags = value.arrayValue, case let texts = tags.compactMap(\.stringValue),
            texts.count == tags.count
        {
            self = .tags(texts)
        } else {
            return nil
        }
    }
}

/// A call of `media`: `[list]`, `[remove, file]`, `[read, file, offset, bytes, {tag}]` or `[write, file, offset, data,
/// {end, begin, size, shared, replaces, describe}]`.
enum MediaRequest {
    case list
    case remove(String)
    case read(String, offset: Int, bytes: Int, isTagged: Bool)
    case write(UploadPiece, isTagged: Bool)

    /// - Throws: `invalid`, with everything that does not fit.
    init(_ call: borrowing Call) throws(CommandError) {
        var problems = FieldProblems()
        let action = call.string(0) ?? "list"
        let file = Self.file(of: action, call, &problems)
        switch action {
        case "read":
            let (offset, bytes) = (Self.offset(call, &problems), Self.bytes(call, &problems))
            self = .read(file, offset: offset ?? 0, bytes: bytes, isTagged: false)
        case "write":
            if call.argument(2).isNull {
                problems.add("/2", expected: "offset, the bytes written before", got: "nothing")
            }
            let (offset, data) = (Self.offset(call, &problems) ?? 0, Self.data(call, &problems))
            self = .write(UploadPiece(file: file, offset: offset, data: data), isTagged: false)
        default:
            Self.expectNothing(behind: 1, call, &problems)
            self = action == "remove" ? .remove(file) : .list
        }
        guard problems.isEmpty else { throw problems.error }
        try readOptions(call)
    }

    private mutating func readOptions(_ call: borrowing Call) throws(CommandError) {
        switch self {
        case .list, .remove: break
        case .read(let file, let offset, let bytes, _):
            var options = try OptionReader(call, 4, known: ["tag"])
            self = .read(file, offset: offset, bytes: bytes, isTagged: options.boolean("tag") ?? false)
            try options.finish()
        case .write(var piece, _):
            let known = ["end", "begin", "size", "shared", "replaces", "describe"]
            var options = try OptionReader(call, 4, known: known)
            (piece.ends, piece.begins) = (options.boolean("end") ?? false, options.boolean("begin") ?? false)
            piece.size = options.integer("size", in: Self.offsets, "bytes of the whole file")
            piece.isShared = options.boolean("shared") ?? false
            let expected = "false, true, or the tag of the file that it replaces, or a list of tags"
            piece.replaces = options.value("replaces", expected) { UploadPiece.Condition($0) }
            let isTagged = options.boolean("describe") ?? false
            try options.finish()
            self = .write(piece, isTagged: isTagged)
        }
    }

    private static func file(of action: String, _ call: borrowing Call, _ problems: inout FieldProblems) -> String {
        let file = call.string(1)
        if action == "list" {
            if !call.argument(1).isNull {
                problems.add("/1", expected: "nothing: a list is of all files", got: call.gist(1))
            }
        } else if file == nil {
            problems.add("/1", expected: "file, the name of the file to \(action)", got: call.gist(1))
        }
        return file ?? ""
    }

    /// The range of file offsets that the system allows.
    private static let offsets = 0...Int64.max / 2

    private static func offset(_ call: borrowing Call, _ problems: inout FieldProblems) -> Int? {
        guard !call.argument(2).isNull else { return nil }
        if let offset = call.integer(2), offsets.contains(offset) { return Int(offset) }
        problems.add("/2", expected: "offset, a number of bytes of at least 0", got: call.gist(2))
        return nil
    }

    private static func bytes(_ call: borrowing Call, _ problems: inout FieldProblems) -> Int {
        guard !call.argument(3).isNull else { return MediaPiece.maxBytes }
        if let bytes = call.integer(3), (1...Int64(MediaPiece.maxBytes)).contains(bytes) { return Int(bytes) }
        problems.add("/3", expected: "bytes, an integer from 1 to \(MediaPiece.maxBytes)", got: call.gist(3))
        return 0
    }

    /// Only checks that the data is a string; it is decoded when it is written.
    private static func data(_ call: borrowing Call, _ problems: inout FieldProblems) -> Message {
        let data = call.argument(3)
        if !data.isString { problems.add("/3", expected: "data, a string in Base64", got: call.gist(3)) }
        return data
    }

    private static func expectNothing(behind last: Int, _ call: borrowing Call, _ problems: inout FieldProblems) {
        for index in (last + 1)..<5 where !call.argument(index).isNull {
            problems.add("/\(index)", expected: "nothing", got: call.gist(index))
        }
    }
}

extension Message {
    fileprivate var isString: Bool {
        switch self {
        case .value(let value): value.stringValue != nil
        case .text(let text): text.kind == .string
        }
    }
}
