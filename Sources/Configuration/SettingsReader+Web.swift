import QuickConnect

extension SettingsReader {
    static let webKeys = ["listen", "address", "names", "pages", "inlineScripts", "tiles", "session", "connections"]

    mutating func readWeb(_ node: YAMLNode, into settings: inout Settings) {
        for (_, name, value) in file.members(node, of: "'web'", known: Self.webKeys) where !value.isNull {
            read(name, value, into: &settings.web)
        }
    }

    private mutating func read(_ name: String, _ value: YAMLNode, into web: inout WebSettings) {
        switch name {
        case "listen": web.listen = listener(value) ?? web.listen
        case "address": web.address = webAddress(value)
        case "names": web.names = names(value)
        case "pages": web.pages = path(value, name)
        case "inlineScripts": web.inlineScripts = file.bool(value, "'inlineScripts'") ?? false
        case "tiles": web.tiles = tiles(value)
        case "session": web.sessionSeconds = file.duration(value, "'session'")?.seconds ?? web.sessionSeconds
        default: web.connections = file.integer(value, "'connections'", in: 1...30_000) ?? web.connections
        }
    }

    private mutating func listener(_ node: YAMLNode) -> String? {
        guard let text = file.string(node, "'listen'") else { return nil }
        guard WebSettings.Listener(text) != nil else {
            file.mistake("'\(text)' is not \(WebSettings.Listener.expectation)", at: node)
            return nil
        }
        return text
    }

    private mutating func webAddress(_ node: YAMLNode) -> String? {
        guard let text = file.string(node, "'address'") else { return nil }
        guard text.hasPrefix("http://") || text.hasPrefix("https://") else {
            file.mistake("'address' must begin with http:// or https://", got: node)
            return nil
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    private mutating func names(_ node: YAMLNode) -> Set<String> {
        var names: Set<String> = []
        for name in file.words(node, "'names'") {
            guard Self.isHostName(name.value) else {
                // The owner of any such name could make it point here, and would get access.
                let what = "'\(name.value)' is not a name of this host; list each, like kiosk.local, without port or *"
                file.mistake(what, at: name.location)
                continue
            }
            names.insert(name.value.lowercased())
        }
        return names
    }

    private static func isHostName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 253
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "." || $0 == "_") }
    }

    private mutating func tiles(_ node: YAMLNode) -> String? {
        guard let text = file.string(node, "'tiles'") else { return nil }
        let isAddress = text.hasPrefix("https://") || text.hasPrefix("http://")
        let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !";,'\"".utf8.contains($0) }
        guard isAddress, isPlain, ["{z}", "{x}", "{y}"].allSatisfy(text.contains) else {
            file.mistake("'tiles' must be an address with {z}, {x} and {y}", got: node)
            return nil
        }
        return text
    }
}
