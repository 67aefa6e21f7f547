import Foundation
import Linux
import TestRig
import Testing

/// The file of a listening socket.
struct ListeningSocketTests {
    private func mode(_ path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test(arguments: [0o600, 0o660, 0o666] as [UInt32])
    func `the file has the mode that was asked for`(wanted: UInt32) throws {
        let folder = try TestFolder()
        let socket = try ListeningSocket.bind(path: folder("socket"), mode: wanted)
        defer { socket.unlink() }
        #expect(mode(folder("socket")) == wanted)
    }

    @Test func `no folder is made for a path that somebody names, and one for the default path`() throws {
        let folder = try TestFolder()
        let path = folder("missing/socket")
        let failure = #expect(throws: PlainError.self) { try ListeningSocket.bind(path: path) }
        #expect(failure?.description.contains("there is no folder \(folder("missing"))") == true)
        #expect(!folder.exists("missing"))
        let socket = try ListeningSocket.bind(path: path, makesFolder: true)
        #expect(folder.exists("missing/socket"))
        socket.unlink()
    }

    @Test func `sockets that are made at the same time leave the umask as it was`() async throws {
        let folder = try TestFolder()
        let before = umask(0o022)
        defer { umask(before) }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    for round in 0..<50 {
                        _ = try? ListeningSocket.bind(path: folder("\(number)-\(round)"), mode: 0o660)
                    }
                }
            }
        }
        #expect(umask(0o022) == 0o022)
        #expect(try folder.names().count == 200)
        #expect(try folder.names().allSatisfy { mode(folder($0)) == 0o660 })
    }
}
