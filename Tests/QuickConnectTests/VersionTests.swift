import Foundation
import QuickConnect
import Testing

@Suite("One version")
struct VersionTests {
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test("The version has three numbers")
    func form() {
        #expect(ProjectVersion.text.wholeMatch(of: /\d+\.\d+\.\d+/) != nil)
    }

    @Test("CHANGELOG.md begins with it")
    func changes() throws {
        let newest = try text("CHANGELOG.md").firstMatch(of: /\n## (\S+)/)
        #expect(newest.map { String($0.output.1) } == ProjectVersion.text)
    }

    @Test("debian/changelog begins with it")
    func package() throws {
        let newest = try text("debian/changelog").prefixMatch(of: /quickconnect \(([^)]+)\)/)
        #expect(newest.map { String($0.output.1) } == ProjectVersion.text)
    }

    @Test("No program, extension or unit states another one")
    func noOther() throws {
        let files = FileManager.default.enumerator(atPath: root.path)
        var count = 0
        while let path = files?.nextObject() as? String {
            if path.hasPrefix(".") || path == "Fuzz" || path == "Tests" {
                files?.skipDescendants()
                continue
            }
            guard ["swift", "json", "py", "js", "toml", "service"].contains(where: path.hasSuffix) else { continue }
            guard let source = try? text(path) else { continue }
            count += 1
            for stated in source.matches(of: /\bversion"?\s*[:=]\s*"(\d+\.\d+\.\d+)"/) {
                #expect(stated.output.1 == ProjectVersion.text, "\(path)")
                #expect(!path.hasSuffix(".swift"), "\(path) has ProjectVersion.text")
            }
        }
        #expect(count > 300)
    }
}
