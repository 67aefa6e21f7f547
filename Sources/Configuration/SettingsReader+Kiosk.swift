import KioskRules
import QuickConnect

extension SettingsReader {
    static let kioskKeys = [
        "page", "fullScreen", "origins", "resources", "urlCalls", "schemes", "cookies", "keepData", "cache",
        "userAgent",
        "zoom", "cursor", "screenSleep", "sandbox", "leaveKey", "contextMenu", "location", "microphone", "camera",
        "downloads", "memoryBytes", "hangTime", "logMaxLength", "monitor", "functions",
    ]

    mutating func readKiosk(_ node: YAMLNode, into settings: inout Settings) {
        for (_, name, value) in file.members(node, of: "'kiosk'", known: Self.kioskKeys) where !value.isNull {
            read(name, value, into: &settings.kiosk)
        }
    }

    private mutating func read(_ name: String, _ value: YAMLNode, into kiosk: inout KioskSettings) {
        switch name {
        case "page": (kiosk.page, kiosk.pageLocation) = (page(value), file.location(value))
        case "origins": kiosk.origins = origins(value, name)
        case "resources": kiosk.resources = origins(value, name)
        case "schemes": kiosk.schemes = schemes(value)
        case "functions": kiosk.functions = functions(value)
        case "cookies": kiosk.cookies = choice(value, name) ?? kiosk.cookies
        case "cache": kiosk.cache = choice(value, name) ?? kiosk.cache
        case "userAgent": kiosk.userAgent = userAgent(value) ?? kiosk.userAgent
        case "zoom": kiosk.zoom = zoom(value) ?? kiosk.zoom
        case "leaveKey": kiosk.leaveKey = leaveKey(value)
        case "monitor": kiosk.monitor = monitor(value)
        // The engine alone needs some 80 MiB.
        case "memoryBytes": kiosk.memoryBytes = file.integer(value, "'\(name)'", in: (128 << 20)...(1 << 40))
        case "hangTime": kiosk.hangSeconds = time(value, name)
        case "logMaxLength":
            kiosk.logMaxLength = file.integer(value, "'\(name)'", in: 1...(1 << 30)) ?? kiosk.logMaxLength
        default: readFlag(name, value, into: &kiosk)
        }
    }

    private mutating func readFlag(_ name: String, _ value: YAMLNode, into kiosk: inout KioskSettings) {
        guard let flag = file.bool(value, "'\(name)'") else { return }
        switch name {
        case "fullScreen": kiosk.isFullScreen = flag
        case "urlCalls": kiosk.urlCalls = flag
        case "keepData": kiosk.keepsData = flag
        case "cursor": kiosk.showsCursor = flag
        case "screenSleep": kiosk.letsScreenSleep = flag
        case "sandbox": kiosk.isSandboxed = flag
        case "contextMenu": kiosk.hasContextMenu = flag
        case "location": kiosk.allowsLocation = flag
        case "microphone": kiosk.allowsMicrophone = flag
        case "camera": kiosk.allowsCamera = flag
        default: kiosk.allowsDownloads = flag
        }
    }

    /// An address, or a folder.
    private mutating func page(_ node: YAMLNode) -> String? {
        guard let text = file.string(node, "'page'") else { return nil }
        return text.contains("://") ? text : path(node, "page")
    }

    private mutating func origins(_ node: YAMLNode, _ name: String) -> Set<String> {
        var origins: Set<String> = []
        for word in file.words(node, "'\(name)'") {
            let address = PageAddress(word.value)
            guard let origin = address?.origin, ["http", "https"].contains(address?.scheme),
                [origin, "\(origin)/"].contains(word.value.lowercased())
            else {
                let what =
                    "'\(word.value)' in '\(name)' is not an origin; write scheme and host, such as https://example.org"
                file.mistake(what, at: word.location)
                continue
            }
            origins.insert(origin)
        }
        return origins
    }

    private mutating func schemes(_ node: YAMLNode) -> [String] {
        file.words(node, "'schemes'").compactMap { word in
            let taken = [
                "http", "https", "qc", "file", "about", "data", "blob", "javascript", "ws", "wss", "wvjbscheme",
            ]
            guard PageAddress.isScheme(word.value), !taken.contains(word.value.lowercased()) else {
                let what =
                    "'\(word.value)' cannot be a scheme of your own; a scheme is a letter, then letters, digits, +, - and ."
                file.mistake(what, at: word.location)
                return nil
            }
            return word.value
        }
    }

    /// Names that a script can call without quotes.
    private mutating func functions(_ node: YAMLNode) -> [String] {
        file.words(node, "'functions'").compactMap { word in
            let isName = word.value.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) || "_$".contains($0) }
            guard isName, word.value.first?.isNumber == false else {
                let what = "'\(word.value)' in 'functions' cannot be a function's name; "
                file.mistake(what + "write a command's name of letters, digits, _ and $", at: word.location)
                return nil
            }
            return word.value
        }
    }

    private mutating func choice<Choice: RawRepresentable & CaseIterable>(_ node: YAMLNode, _ name: String) -> Choice?
    where Choice.RawValue == String {
        guard let text = file.string(node, "'\(name)'") else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let all = Choice.allCases.map(\.rawValue)
        file.mistake(
            "'\(name)' must be one of \(all.joined(separator: ", ")); got \(node.gist)\(NearestNames.question(text, among: all))",
            at: node
        )
        return nil
    }

    /// A product of RFC 9110, 10.1.5: a token, or two with a slash between them. The engine ignores anything else.
    private mutating func userAgent(_ node: YAMLNode) -> String? {
        guard let text = file.string(node, "'userAgent'") else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Self.isTokenCharacter) }) else {
            file.mistake("'userAgent' must be a name, or a name and a version, such as Shop/2", got: node)
            return nil
        }
        return text
    }

    /// RFC 9110, 5.6.2.
    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    private mutating func zoom(_ node: YAMLNode) -> Double? {
        guard let value = file.number(node, "'zoom'") else { return nil }
        if (0.25...8).contains(value) { return value }
        file.mistake("'zoom' must be a number from 0.25 to 8; 1 is the page's own size", got: node)
        return nil
    }

    private mutating func leaveKey(_ node: YAMLNode) -> Located<String>? {
        guard let text = file.string(node, "'leaveKey'"), text != "none" else { return nil }
        return Located(text, at: file.location(node))
    }

    private mutating func monitor(_ node: YAMLNode) -> MonitorChoice? {
        if let choice = node.text.flatMap(MonitorChoice.init) { return choice }
        let number = "its number, from 1 to \(MonitorChoice.maximumNumber)"
        file.mistake("'monitor' must be the name of a monitor's connector, such as HDMI-1, or \(number)", got: node)
        return nil
    }

    private mutating func time(_ node: YAMLNode, _ name: String) -> Double? {
        node.text == "never" ? nil : file.duration(node, "'\(name)'")?.seconds
    }
}
