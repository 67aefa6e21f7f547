import Foundation
import QuickConnect
import TestRig
import Testing

@testable import ALSAAudio
@testable import MediaFolder

/// The index of owners, on the disk.
@Suite struct MediaOwnersTests {
    let folder: TestFolder
    let media: MediaFolder
    let log = LogRecord()
    private let ann = FileRights(Caller(.peer(uid: 1000, pid: 7, groups: [])), isPrivileged: false)
    private let bob = FileRights(Caller(.gateway(name: "web", user: "bob")), isPrivileged: false)

    init() throws {
        folder = try TestFolder()
        media = MediaFolder(path: folder("media"))
        try FileManager.default.createDirectory(atPath: folder("media/sub"), withIntermediateDirectories: true)
    }

    private func owners() -> MediaOwners {
        let owners = MediaOwners(media, index: folder("index"), logger: log.logger)
        owners.load()
        return owners
    }

    private func write(_ name: String, _ rights: FileRights, _ owners: MediaOwners) throws {
        let file = try owners.begin(try MediaName(name), .upload, for: rights)
        try file.unfinished.write([1, 2, 3], at: 0)
        try file.publish()
    }

    private func code(_ body: () throws -> Void) -> CommandError.Code? {
        do { try body() } catch { return (error as? CommandError)?.code }
        return nil
    }

    @Test func `the index is read again as it was written`() throws {
        let first = owners()
        let names = ["a.wav", "sub/n\u{e9}.wav", "sub/ne\u{301}.wav", "quote\"\\.wav"]
        for (index, name) in names.enumerated() { try write(name, index % 2 == 0 ? ann : bob, first) }
        try write("root.wav", .daemon, first)
        let second = owners()
        for (index, name) in names.enumerated() {
            #expect(second.owner(of: try MediaName(name)) == (index % 2 == 0 ? ann : bob).caller.owner)
        }
        #expect(second.owner(of: try MediaName("root.wav")) == .root)
        #expect(!String(decoding: try folder.data("index"), as: UTF8.self).contains("root.wav"))
        #expect(try FileManager.default.attributesOfItem(atPath: folder("index"))[.posixPermissions] as? Int == 0o600)
        #expect(try folder.names() == ["index", "media"] && log.complaints == [])
    }

    @Test func `a name has one writer at a time, of whatever kind`() throws {
        let owners = owners()
        let name = try MediaName("a.wav")
        let file = try owners.begin(name, .recording, for: ann)
        #expect(code { _ = try owners.begin(name, .upload, for: ann) } == .busy)
        #expect(code { _ = try owners.begin(name, .upload, for: .daemon) } == .busy)
        file.discard()
        try write("a.wav", bob, owners)
        #expect(code { _ = try owners.begin(name, .upload, for: ann) } == .denied)
        #expect(code { try owners.remove(name, for: ann) } == .denied)
        try owners.remove(name, for: bob)
        try write("a.wav", ann, owners)
    }

    /// A crash between the file's new name and the index: what was announced counts.
    @Test func `a file that got its name in the last moment belongs to its writer`() throws {
        let first = owners()
        try write("a.wav", bob, first)
        let file = try first.begin(try MediaName("a.wav"), .recording, for: .daemon)
        file.announce()
        try file.unfinished.publish()
        #expect(owners().owner(of: try MediaName("a.wav")) == .root)
        let other = try first.begin(try MediaName("b.wav"), .recording, for: ann)
        other.announce()
        try other.unfinished.publish()
        let third = owners()
        #expect(third.owner(of: try MediaName("b.wav")) == ann.caller.owner)
        #expect(third.owner(of: try MediaName("a.wav")) == .root)
    }

    @Test func `links and folders within are other names, which are root's`() throws {
        let owners = owners()
        try write("sub/a.wav", ann, owners)
        for (link, target) in [("link.wav", "sub/a.wav"), ("down", "sub"), ("dangling.wav", "nothing.wav")] {
            try FileManager.default.createSymbolicLink(atPath: folder("media/\(link)"), withDestinationPath: target)
        }
        for name in ["link.wav", "down/a.wav", "dangling.wav"] {
            #expect(code { _ = try owners.begin(try MediaName(name), .upload, for: ann) } == .denied, "\(name)")
        }
        #expect(code { _ = try owners.open(try MediaName("down/a.wav"), for: ann) } == .denied)
        #expect(code { _ = try owners.begin(try MediaName("sub"), .upload, for: ann) } == nil)
        #expect(code { _ = try owners.open(try MediaName("none.wav"), for: ann) } == .notFound)
    }

    @Test func `entries of files that are gone are dropped, but not where the disk is not mounted`() throws {
        let first = owners()
        for name in ["a.wav", "b.wav"] { try write(name, ann, first) }
        try FileManager.default.moveItem(atPath: folder("media"), toPath: folder("elsewhere"))
        #expect(owners().owner(of: try MediaName("a.wav")) == ann.caller.owner)
        try FileManager.default.createDirectory(atPath: folder("media"), withIntermediateDirectories: true)
        #expect(owners().owner(of: try MediaName("a.wav")) == ann.caller.owner)
        try folder.remove("media")
        try FileManager.default.moveItem(atPath: folder("elsewhere"), toPath: folder("media"))
        try folder.remove("media/b.wav")
        #expect(owners().owner(of: try MediaName("b.wav")) == .root)
        #expect(owners().owner(of: try MediaName("a.wav")) == ann.caller.owner)
    }

    @Test func `an index that cannot be written is told, and costs nobody a file`() throws {
        let owners = owners()
        try FileManager.default.createDirectory(atPath: folder("index.new"), withIntermediateDirectories: true)
        try write("a.wav", ann, owners)
        #expect(owners.owner(of: try MediaName("a.wav")) == ann.caller.owner && folder.exists("media/a.wav"))
        #expect(log.complaints.contains { $0.contains("cannot be written") })
    }

    @Test func `before it is read the index is not written`() throws {
        try write("a.wav", ann, owners())
        let early = MediaOwners(media, index: folder("index"), logger: log.logger)
        try write("b.wav", bob, early)
        #expect(owners().owner(of: try MediaName("a.wav")) == ann.caller.owner)
    }
}
