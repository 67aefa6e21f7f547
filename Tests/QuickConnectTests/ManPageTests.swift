import Foundation
import Testing

/// What is described where people look it up, compared with what the sources accept.
@Suite("What the sources accept is described")
struct ManPageTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The keys that a source reads: `FileKey("folder", …)`.
    private func keys(_ path: String) throws -> Set<String> {
        let keys = try Self.text(path).matches(of: /FileKey\("(\w+)"/)
        #expect(!keys.isEmpty, "\(path) has no keys")
        return Set(keys.map { String($0.output.1) })
    }

    /// What a page explains: the names after `.It Ic` and `.Ic`.
    private func explained(_ page: String) throws -> Set<String> {
        let names = try Self.text("man/\(page)").matches(of: /(?m)^\.(?:It )?Ic ([^ \n]+)/)
        return Set(names.map { String($0.output.1).replacing(/\(.*/, with: "") })
    }

    @Test("quickconnectd.yaml(5) has every setting, and no other")
    func settings() throws {
        let folder = "Sources/Configuration"
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.root.appendingPathComponent(folder).path)
        let readers = files.filter { $0.hasPrefix("SettingsReader") }
        #expect(readers.count >= 3)
        let keys = try readers.reduce(into: Set<String>()) { $0.formUnion(try self.keys("\(folder)/\($1)")) }
        let explained = try explained("quickconnectd.yaml.5")
        #expect(keys.count > 40)
        // Members of members are explained where their key is.
        let inner: Set = [
            "ca", "certificate", "qos", "state", "every", "caller", "name", "buttons", "messages", "bytes",
            "open", "for", "from", "until", "days",
        ]
        let page = try Self.text("man/quickconnectd.yaml.5")
        for key in inner { #expect(page.contains(key), "\(key)") }
        #expect(keys.subtracting(explained) == inner)
        #expect(explained.subtracting(keys) == [])
    }

    @Test("config/quickconnectd.yaml names every setting, too")
    func sample() throws {
        let sample = try Self.text("config/quickconnectd.yaml")
        for key in try keys("Sources/Configuration/SettingsReader.swift") {
            #expect(sample.contains(try Regex("\\b\(key):")), "\(key)")
        }
    }

    @Test("quickconnect-mappings(5) has every key of entries, parameters and values, and no other")
    func mappings() throws {
        let mapping = try Self.text("Sources/Configuration/MappingReader.swift")
        #expect(mapping.contains("Phase.allCases.map(\\.rawValue)"))
        let readers = ["Parameter", "Mapping", "Schedule", "Binding", "Input"].map {
            "Sources/Configuration/\($0)Reader.swift"
        }
        var keys = try readers.reduce(into: Set<String>()) { $0.formUnion(try self.keys($1)) }
        keys.formUnion(["validation", "business", "view", "error"])
        let explained = try explained("quickconnect-mappings.5")
        #expect(keys.subtracting(explained) == [])
        #expect(explained.subtracting(keys) == [])
    }

    @Test("quickconnect-scripts(7) has what the runtime gives to scripts")
    func scripts() throws {
        let page = try Self.text("man/quickconnect-scripts.7")
        let documented = try Self.text("docs/scripts.md").matches(of: /(?m)^\| `(\w+)\(?/).map { String($0.output.1) }
        let limits = try keys("Sources/Configuration/SettingsReader.swift")
        let names =
            documented.filter { !limits.contains($0) } + [
                "makeCall", "makeCallSync", "getValue", "setValue", "registerHandler", "removeHandler", "callHandler",
                "setupWebViewJavascriptBridge", "WVJBCallbacks", "onerror", "confirm", "prompt",
            ]
        #expect(names.count > 20)
        for name in names { #expect(page.contains(name), "\(name)") }
    }

    @Test("Every shipped command says what it answers, and what stands in its options")
    func answers() throws {
        let folder = Self.root.appendingPathComponent("mappings").path
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".yaml") }
        var entries = 0
        for file in files {
            let text = try Self.text("mappings/\(file)")
            for entry in text.matches(of: /(?m)^(\w+):\n((?:[ #].*\n|\n)+)/)
            where entry.output.1 != "default" && !entry.output.2.contains("\n  event: ") {
                entries += 1
                #expect(entry.output.2.contains("\n  answers: "), "\(file): \(entry.output.1)")
                let objects = entry.output.2.matches(of: /type: object/).count
                // A result of several types may have members, too.
                #expect(entry.output.2.matches(of: /members: \{/).count >= objects, "\(file): \(entry.output.1)")
                for key in ["result:", "effect: "] where !entry.output.2.contains("\n  value: ") {
                    #expect(entry.output.2.contains("\n  \(key)"), "\(file): \(entry.output.1) has no \(key)")
                }
            }
        }
        #expect(entries > 30)
    }

    @Test("The options that command objects read are members in the mappings")
    func options() throws {
        let folder = Self.root.appendingPathComponent("Sources/Daemon/Commands")
        let files = FileManager.default.enumerator(atPath: folder.path)
        let mappings = try ["daemon", "device", "location", "nearby", "sound"].map {
            try Self.text("mappings/\($0).yaml")
        }
        .joined()
        var options = 0
        while let path = files?.nextObject() as? String {
            guard path.hasSuffix(".swift"), !path.hasPrefix("Options/") else { continue }
            let source = try Self.text("Sources/Daemon/Commands/\(path)")
            for list in source.matches(of: /OptionReader\([\s\S]*?known: \[([^\]]*)\]/) {
                for name in list.output.1.matches(of: /"(\w+)"/) {
                    options += 1
                    #expect(
                        mappings.contains(try Regex("\\b\(name.output.1): \\{type: \\w+, optional: true")),
                        "\(path): \(name.output.1)"
                    )
                }
            }
        }
        #expect(options > 10)
    }
}
