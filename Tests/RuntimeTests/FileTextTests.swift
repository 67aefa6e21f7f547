import Foundation
import Linux
import TestRig
import Testing

@Suite("Text files")
struct FileTextTests {
    private static func read(_ text: String, isExact: Bool = false) throws -> Result<String, FileText.Problem> {
        let folder = try TestFolder()
        try folder.write(text, to: "text")
        let path = folder("text")
        return isExact ? FileText.exact(path, maximumBytes: 100) : FileText.read(path, maximumBytes: 100)
    }

    @Test(arguments: [
        ("a\r\nb\r\n", "a\nb\n"), ("a\rb\r", "a\nb\n"), ("a\nb", "a\nb"), ("\u{FEFF}a\n", "a\n"), ("\u{FEFF}", ""),
        ("\r\r\n\n\r", "\n\n\n\n"), ("\u{FEFF}\r\na\u{FEFF}", "\na\u{FEFF}"), ("ä\r\nö", "ä\nö"), ("", ""),
    ])
    func `lines end with LF, and a mark at the start is no text`(written: String, read: String) throws {
        #expect(try Self.read(written).get() == read)
        #expect(FileText.plain(written) == read)
    }

    @Test func `where each byte counts, it stays`() throws {
        #expect(try Self.read("\u{FEFF}a\r\nb\r\0", isExact: true).get() == "\u{FEFF}a\r\nb\r\0")
    }

    @Test func `what is not UTF-8 is told with its line`() throws {
        let folder = try TestFolder()
        try Data(Array("ä\r\n\rb".utf8) + [0xC3]).write(to: URL(fileURLWithPath: folder("text")))
        guard case .failure(let problem) = FileText.read(folder("text"), maximumBytes: 100) else {
            Issue.record("it was read")
            return
        }
        #expect(problem.message == "is not UTF-8 in line 3" && problem.line == 3)
    }

    @Test func `a NUL is told with its line`() throws {
        for text in ["a\r\nb\0c\n", "a\rb\0"] {
            guard case .failure(let problem) = try Self.read(text) else {
                Issue.record("\(text.debugDescription) was read")
                continue
            }
            #expect(problem.message == "is no text: there is a NUL byte in line 2")
        }
    }
}
