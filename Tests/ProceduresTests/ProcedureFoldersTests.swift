import Foundation
import Linux
import TestRig
import Testing

@testable import Procedures

@Suite("Folders of procedures")
struct ProcedureFoldersTests {
    private let folder: TestFolder
    private let folders: ProcedureFolders

    init() throws {
        folder = try TestFolder()
        for place in ["own", "fetched", "shipped"] {
            try FileManager.default.createDirectory(atPath: folder("\(place)/lib"), withIntermediateDirectories: true)
        }
        folders = ProcedureFolders(
            configuration: folder("own"),
            fetched: folder("fetched"),
            shipped: folder("shipped")
        )
    }

    @Test func `the owner's file counts, then what was fetched, then what is shipped`() throws {
        for (place, names) in ["own": ["a"], "fetched": ["a", "b"], "shipped": ["a", "b", "c"]] {
            for name in names { try folder.write(place, to: "\(place)/\(name).js") }
        }
        let (files, problems) = folders.files()
        #expect(files.map(\.name) == ["a", "b", "c"] && files.map(\.place) == [.configuration, .fetched, .shipped])
        #expect(files[0].shadows == [folder("fetched/a.js"), folder("shipped/a.js")] && problems.isEmpty)
        #expect(folders.file("b")?.path == folder("fetched/b.js") && folders.file("d") == nil)
    }

    @Test func `a name is never a path`() throws {
        try folder.write("x", to: "own/a b.js")
        try folder.write("x", to: "own/.hidden.js")
        #expect(folders.files().files.isEmpty && folders.files().problems.count == 1)
        for name in ["", "../own/a", "a/b", ".", "..", "a.b", "-x", "ä", "a\u{0}", String(repeating: "x", count: 101)] {
            #expect(folders.file(name) == nil, "\(name)")
        }
    }

    @Test func `load reaches lib and nothing else`() throws {
        try folder.write("secret", to: "secret.js")
        try folder.write("1", to: "shipped/lib/one.js")
        try FileManager.default.createSymbolicLink(
            atPath: folder("own/lib/link.js"),
            withDestinationPath: folder("secret.js")
        )
        #expect(try folders.library("lib/one.js").text == "1")
        for name in [
            "one.js", "lib/../../secret.js", "/etc/passwd", "lib//etc/passwd", "lib/link.js", "lib/", "lib/two.js", "",
        ] {
            #expect(throws: (any Error).self) { try folders.library(name) }
        }
    }
}
