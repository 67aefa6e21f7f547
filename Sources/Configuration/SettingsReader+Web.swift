import QuickConnect

extension SettingsReader {
    static var webKeys: [FileKey<WebSettings>] {
        [
            FileKey("listen", \.listen) { $0.listener($1, $2) },
            FileKey("address", \.address) { $0.webAddress($1, $2) },
            FileKey("names", \.names) { $0.hostNames($1, $2) },
            FileKey("pages", \.pages) { $0.filePath($1, $2) },
            FileKey("inlineScripts", \.inlineScripts) { $0.bool($1, $2) },
            FileKey("watch", \.watches) { $0.bool($1, $2) },
            FileKey("tiles", \.tiles) { $0.tiles($1, $2) },
            FileKey("session", \.sessionSeconds) { $0.seconds($1, $2) },
            FileKey("connections", \.connections) { $0.integer($1, $2, in: 1...30_000) },
        ]
    }
}

extension YAMLFile {
    fileprivate mutating func listener(_ node: YAMLNode, _ what: String) -> String? {
        guard let text = string(node, what) else { return nil }
        guard WebSettings.Listener(text) != nil else {
            mistake("'\(text)' is not \(WebSettings.Listener.expectation)", at: node)
            return nil
        }
        return text
    }

    fileprivate mutating func webAddress(_ node: YAMLNode, _ what: String) -> String? {
        guard let text = string(node, what) else { return nil }
        guard text.hasPrefix("http://") || text.hasPrefix("https://") else {
            mistake("'address' must begin with http:// or https://", got: node)
            return nil
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    fileprivate mutating func hostNames(_ node: YAMLNode, _ what: String) -> Set<String> {
        var names: Set<String> = []
        for name in words(node, what) {
            // A final dot only says that a name is whole.
            let host = name.value.hasSuffix(".") ? String(name.value.dropLast()) : name.value
            guard Self.isHostName(host) else {
                // The owner of any such name could make it point here, and would get access.
                let problem =
                    "'\(name.value)' is not a name of this host; list each, like kiosk.local, without port or *"
                mistake(problem, at: name.location)
                continue
            }
            names.insert(host.lowercased())
        }
        return names
    }

    fileprivate static func isHostName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 253
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "." || $0 == "_") }
    }

    fileprivate mutating func tiles(_ node: YAMLNode, _ what: String) -> String? {
        guard let text = string(node, what) else { return nil }
        let isAddress = text.hasPrefix("https://") || text.hasPrefix("http://")
        let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !";,'\"".utf8.contains($0) }
        guard isAddress, isPlain, ["{z}", "{x}", "{y}"].allSatisfy(text.contains) else {
            mistake("'tiles' must be an address with {z}, {x} and {y}", got: node)
            return nil
        }
        return text
    }
}
