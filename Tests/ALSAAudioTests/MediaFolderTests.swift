import CLinux
import Foundation
import QuickConnect
import TestRig
import Testing

@testable import MediaFolder

/// What callers' names reach, and what they do not.
@Suite struct MediaFolderTests {
    let folder: TestFolder
    let media: MediaFolder

    init() throws {
        folder = try TestFolder()
        media = MediaFolder(path: folder("media"))
        try FileManager.default.createDirectory(atPath: folder("media/sub"), withIntermediateDirectories: true)
        try folder.write("outside", to: "secret.wav")
        try folder.write("inside", to: "media/a.wav")
        try folder.write("below", to: "media/sub/b.wav")
    }

    private func read(_ name: String) throws -> String {
        let file = try media.open(try MediaName(name))
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = Foundation.read(file.descriptor, &bytes, bytes.count)
        return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
    }

    private func code(_ body: () throws -> Void) -> CommandError.Code? {
        do {
            try body()
            return nil
        } catch let error as CommandError {
            return error.code
        } catch {
            return .internal
        }
    }

    @Test func `files in the folder and below are read`() throws {
        #expect(try read("a.wav") == "inside")
        #expect(try read("sub/b.wav") == "below")
        #expect(try MediaName("take").text == "take.caf")
        #expect(try MediaName("sub.d/take").text == "sub.d/take.caf")
        #expect(try MediaName("TAKE.WAV").ending == "wav")
    }

    /// An e with an acute accent, as one code point and as two, and an accent that follows a slash.
    @Test func `names are compared by their bytes`() throws {
        let (composed, decomposed) = ("n\u{e9}.wav", "ne\u{301}.wav")
        #expect(try MediaName(composed) != MediaName(decomposed))
        #expect(Set([try MediaName(composed), try MediaName(decomposed), try MediaName(composed)]).count == 2)
        for name in [composed, decomposed, "sub/\u{301}x.wav"] { try folder.write(name, to: "media/\(name)") }
        let listed = try media.list().map { Array($0.name.text.utf8) }
        let expected = ["a.wav", decomposed, composed, "sub/b.wav", "sub/\u{301}x.wav"]
        #expect(listed == expected.map { Array($0.utf8) })
        let unfinished = try media.create(try MediaName("sub/\u{301}y.wav"))
        #expect(folder.exists("media/sub/.\u{301}y.wav.recording"))
        try unfinished.publish()
        try media.remove(try MediaName("sub/\u{301}y.wav"))
        #expect(!folder.exists("media/sub/\u{301}y.wav"))
        let hidden = UnfinishedFile.name(hidden: "sub/.\u{301}y.wav.recording")
        #expect(hidden == (try MediaName("sub/\u{301}y.wav")))
    }

    @Test func `files that no command can name are told`() throws {
        #expect(try media.unnamable() == [])
        for name in ["README", "sub/notes", "sub/.hidden", ".a.wav.recording", "line\n.wav"] {
            try folder.write("x", to: "media/\(name)")
        }
        // Written by a program of Latin-1.
        for bytes in [Array("caf".utf8) + [0xe9] + Array(".wav".utf8), [0xe9]] {
            let path = (Array(folder("media/sub/").utf8) + bytes + [0]).map { CChar(bitPattern: $0) }
            close(open(path, O_CREAT | O_WRONLY, 0o600))
        }
        #expect(try media.list().map(\.name.text) == ["a.wav", "sub/b.wav"])
        let expected = ["README", "line\n.wav", "sub/caf\u{fffd}.wav", "sub/notes", "sub/\u{fffd}"]
        #expect(try media.unnamable() == expected)
    }

    @Test(
        arguments: [
            "", ".", "..", "../secret.wav", "sub/../a.wav", "sub/../../secret.wav", "/etc/passwd", "/", "sub//b.wav",
            "sub/", "./a.wav", ".hidden.wav", "sub/.hidden.wav", "a\0.wav", "a.wav\n", "a\r.wav", "a\u{1B}[2J.wav",
            "a\u{7F}.wav", "a\u{9B}.wav", String(repeating: "a", count: 10_000),
            String(repeating: "a", count: 241), String(repeating: "a/", count: 600) + "a",
        ]
    )
    func `a name that is none is invalid`(name: String) {
        #expect(code { _ = try MediaName(name) } == .invalid)
    }

    @Test(arguments: ["missing.wav", "sub", "sub/missing.wav", "missing/a.wav", "a.wav/b.wav"])
    func `what is not there is notFound`(name: String) {
        #expect(code { _ = try read(name) } == .notFound)
    }

    @Test func `links that lead out are notFound, and those within are followed`() throws {
        let links = [
            "out.wav": "../secret.wav", "abs.wav": folder("secret.wav"), "dir": "..", "up": folder.path,
            "loop.wav": "loop.wav", "in.wav": "sub/b.wav", "self.wav": "/proc/self/environ", "two.wav": "out.wav",
            "back.wav": folder("media/a.wav"),
        ]
        for (name, target) in links {
            try FileManager.default.createSymbolicLink(atPath: folder("media/\(name)"), withDestinationPath: target)
        }
        #expect(try read("in.wav") == "below")
        let out = [
            "out.wav", "abs.wav", "dir/secret.wav", "up/secret.wav", "loop.wav", "self.wav", "two.wav", "back.wav",
        ]
        for name in out {
            #expect(code { _ = try read(name) } == .notFound, "\(name)")
            #expect(code { try media.remove(try MediaName(name)) } == .notFound, "\(name)")
        }
        #expect(code { _ = try media.create(try MediaName("dir/new.wav")) } == .notFound)
        #expect(try media.list().map(\.name.text) == ["a.wav", "in.wav", "sub/b.wav"])
        #expect(folder.exists("secret.wav") && !folder.exists("new.wav") && !folder.exists(".new.wav.recording"))
    }

    @Test func `who renames folders without end holds up nobody`() async throws {
        let path = folder("media")
        let opened = try await RefusedCall.openat2.with(EAGAIN) { () -> [Int32] in
            let root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { close(root) }
            return ["sub/../a.wav", "../secret.wav", "none"].map { name in
                let result = qc_open_beneath(root, name, O_RDONLY, 0)
                if result >= 0 { close(result) }
                return min(result, 0)
            }
        }
        // Nil where the kernel refuses filters.
        if let opened { #expect(opened == [0, -EXDEV, -ENOENT]) }
    }

    @Test func `without openat2 the path is walked by the same rule`() throws {
        let links = [
            "out.wav": "../secret.wav", "abs.wav": folder("secret.wav"), "dir": "..", "loop.wav": "loop.wav",
            "in.wav": "sub/b.wav", "here": ".", "down": "sub", "sub/up": "..", "sub/over": "../..",
            "sub/back.wav": "../a.wav", "slash": "sub/", "file/": "a.wav", "none.wav": "nothing.wav",
        ]
        for (name, target) in links {
            let path = folder("media/\(name.hasSuffix("/") ? String(name.dropLast()) : name)")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        }
        let root = open(folder("media"), O_RDONLY | O_DIRECTORY)
        defer { close(root) }
        let names =
            [
                ".", "..", "", "/", "a.wav", "/a.wav", "./a.wav", "sub/b.wav", "sub//b.wav", "sub/../a.wav",
                "sub/../../secret.wav",
                "a.wav/", "a.wav/b", "missing", "missing/a", "sub/", "sub/.", "down/b.wav", "down/../a.wav",
                "here/here/a.wav",
                "sub/up/a.wav", "sub/over/secret.wav", "sub/over/media/a.wav", "sub/back.wav", "slash/b.wav", "file",
                "file/",
            ] + links.keys
        for name in names {
            for flags in [qc_o_path, O_RDONLY, O_RDONLY | O_DIRECTORY] {
                let (kernel, walk) = (qc_open_beneath(root, name, flags, 0), qc_walk_beneath(root, name, flags, 0))
                defer { for descriptor in [kernel, walk] where descriptor >= 0 { close(descriptor) } }
                #expect((kernel < 0 ? kernel : 0) == (walk < 0 ? walk : 0), "\(name), \(flags)")
                guard kernel >= 0, walk >= 0 else { continue }
                var (one, other) = (stat(), stat())
                #expect(fstat(kernel, &one) == 0 && fstat(walk, &other) == 0 && one.st_ino == other.st_ino, "\(name)")
            }
        }
        let made = qc_walk_beneath(root, "sub/up/new.wav", O_WRONLY | O_CREAT | O_EXCL, 0o600)
        #expect(made >= 0 && folder.exists("media/new.wav"))
        close(made)
        let behind = qc_walk_beneath(root, "none.wav", O_WRONLY | O_CREAT, 0o600)
        #expect(behind >= 0 && folder.exists("media/nothing.wav"))
        close(behind)
        #expect(openFiles(under: folder("media")).count == 1)
    }

    @Test func `what is no file is notFound, at once`() throws {
        #expect(mkfifo(folder("media/pipe.wav"), 0o600) == 0)
        // Nor may root in a namespace of users.
        if mknod(folder("media/null.wav"), S_IFCHR | 0o600, 0x103) != 0 { #expect(errno == EPERM) }
        let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(server) }
        for name in ["pipe.wav", "null.wav", "sub"] { #expect(code { _ = try read(name) } == .notFound) }
        #expect(try media.list().map(\.name.text) == ["a.wav", "sub/b.wav"])
    }

    @Test func `a list is in the order of the names' bytes, without what is hidden`() throws {
        for name in ["Z.wav", "é.wav", "b.wav", ".hidden.wav", ".x.wav.recording", "line\nbreak.wav"] {
            try folder.write("1234", to: "media/\(name)")
        }
        let list = try media.list()
        #expect(list.map(\.name.text) == ["Z.wav", "a.wav", "b.wav", "sub/b.wav", "é.wav"])
        #expect(list.first?.bytes == 4)
        #expect(try MediaFolder(path: folder("nowhere")).list().isEmpty)
    }

    @Test func `more files than can be listed are an error, not a shorter list`() throws {
        for number in 0..<MediaFolder.maxFiles { close(creat(folder("media/\(number).wav"), 0o600)) }
        #expect(code { _ = try media.list() } == .tooLarge)
    }

    @Test func `a file appears when it is published, in place of an older one`() throws {
        let file = try media.create(try MediaName("a.wav"))
        #expect(write(file.file.descriptor, "new", 3) == 3)
        #expect(try read("a.wav") == "inside")
        #expect(code { _ = try media.create(try MediaName("a.wav")) } == .busy)
        #expect(try media.unfinished().isEmpty, "it is locked by its writer")
        try file.publish()
        #expect(try read("a.wav") == "new")
        #expect(try folder.names() == ["media", "secret.wav"])

        try FileManager.default.createDirectory(atPath: folder("media/f.wav"), withIntermediateDirectories: true)
        #expect(code { _ = try media.create(try MediaName("f.wav")) } == .busy, "it is a folder")
        let other = try media.create(try MediaName("sub/c.wav"))
        other.discard()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("media/sub")) == ["b.wav"])
    }

    @Test func `what a dead writer left is found by the name that was asked for, and can be replaced`() throws {
        try folder.write("torn", to: "media/sub/.d.wav.recording")
        let found = try media.unfinished()
        #expect(found.map(\.name.text) == ["sub/d.wav"])
        let replacement = try found[0].replacement()
        #expect(write(replacement.file.descriptor, "whole", 5) == 5)
        try replacement.takePlace()
        try found[0].publish()
        #expect(try read("sub/d.wav") == "whole")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("media/sub")).count == 2)
    }

    @Test func `a removed file is gone, and nothing else is`() throws {
        try media.remove(try MediaName("a.wav"))
        #expect(code { try media.remove(try MediaName("a.wav")) } == .notFound)
        #expect(try media.list().map(\.name.text) == ["sub/b.wav"])
    }
}
