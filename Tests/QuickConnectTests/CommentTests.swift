import Foundation
import Testing

@Suite("The libraries' public declarations")
struct CommentTests {
    /// Their folders.
    private static let products = [
        "Core", "Base/JSON", "Client/QuickConnectClient", "Client/QuickConnectClientNIO", "Scripting/JavaScriptCore",
        "Scripting/MacroEngine",
    ]

    @Test("each have a comment", arguments: products)
    func comments(product: String) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/\(product)")
        let files = FileManager.default.enumerator(atPath: root.path)
        var (count, bare) = (0, [String]())
        while let path = files?.nextObject() as? String {
            guard path.hasSuffix(".swift") else { continue }
            let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
            let lines = text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            for (number, line) in lines.enumerated() where Self.isDeclaration(line) {
                count += 1
                let above = lines[..<number].last { !$0.hasPrefix("@") && !$0.hasPrefix("// ") }
                if above?.hasPrefix("///") != true { bare.append("\(path):\(number + 1): \(line)") }
            }
        }
        #expect(count > 5)
        #expect(bare == [])
    }

    private static func isDeclaration(_ line: String) -> Bool {
        let line = line.replacing(/^(?:@\w+(?:\([^)]*\))? )+/, with: "")
        return line.hasPrefix("public ") && !line.hasPrefix("public import") && !line.hasPrefix("public extension")
    }
}
