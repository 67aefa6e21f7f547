import Calendar
import KioskRules
import QuickConnect

extension SettingsReader {
    static var kioskKeys: [FileKey<KioskSettings>] {
        [
            FileKey("page") { file, node, kiosk in
                (kiosk.page, kiosk.pageLocation) = (file.page(node, "'page'"), file.location(node))
                file.checkPages(of: kiosk, node)
            },
            FileKey("pages") { file, node, kiosk in
                kiosk.pages = file.pages(node)
                file.checkPages(of: kiosk, node)
            },
            FileKey("fallback") { ($2.fallback, $2.fallbackLocation) = ($0.fallback($1), $0.location($1)) },
            FileKey("fullScreen", \.isFullScreen) { $0.bool($1, $2) },
            FileKey("monitor", \.monitor) { file, node, _ in file.monitor(node) },
            FileKey("origins", \.origins) { $0.origins($1, $2) },
            FileKey("resources", \.resources) { $0.origins($1, $2) },
            FileKey("urlCalls", \.urlCalls) { $0.bool($1, $2) },
            FileKey("schemes", \.schemes) { $0.schemes($1, $2) },
            FileKey("functions", \.functions) { $0.functions($1, $2) },
            FileKey("cookies", \.cookies) { $0.choice($1, $2) },
            FileKey("keepData", \.keepsData) { $0.bool($1, $2) },
            FileKey("cache", \.cache) { $0.choice($1, $2) },
            FileKey("userAgent", \.userAgent) { $0.userAgent($1, $2) },
            FileKey("zoom", \.zoom) { $0.zoom($1, $2) },
            FileKey("cursor", \.showsCursor) { $0.bool($1, $2) },
            FileKey("screenSleep", \.letsScreenSleep) { $0.bool($1, $2) },
            FileKey("sandbox", \.isSandboxed) { $0.bool($1, $2) },
            FileKey("leaveKey", \.leaveKey) { $0.leaveKey($1, $2) },
            FileKey("contextMenu", \.hasContextMenu) { $0.bool($1, $2) },
            FileKey("location", \.allowsLocation) { $0.bool($1, $2) },
            FileKey("microphone", \.allowsMicrophone) { $0.bool($1, $2) },
            FileKey("camera", \.allowsCamera) { $0.bool($1, $2) },
            FileKey("downloads", \.allowsDownloads) { $0.bool($1, $2) },
            // The engine alone needs some 80 MiB.
            FileKey("memoryBytes", \.memoryBytes) { $0.integer($1, $2, in: (128 << 20)...(1 << 40)) },
            FileKey("hangTime", \.hangSeconds) { $0.time($1, $2) },
            FileKey("logMaxLength", \.logMaxLength) { $0.integer($1, $2, in: 1...(1 << 30)) },
        ]
    }

    static var kioskPageKeys: [FileKey<KioskSettings.Page>] {
        [
            FileKey("open", \.open) { $0.listedPage($1, $2) },
            FileKey("for", \.seconds) { $0.stay($1, $2) },
            FileKey("from", \.from) { $0.moment($1, $2)?.value },
            FileKey("until", \.until) { $0.moment($1, $2)?.value },
            FileKey("days", \.days) { $0.weekdays($1, $2) },
        ]
    }
}

extension YAMLFile {
    /// An address, or a folder.
    fileprivate mutating func page(_ node: YAMLNode, _ what: String) -> String? {
        guard let text = string(node, what) else { return nil }
        return text.contains("://") ? text : filePath(node, what)
    }

    fileprivate mutating func listedPage(_ node: YAMLNode, _ what: String) -> String? {
        guard let page = page(node, what) else { return nil }
        guard page.contains("://") else { return page }
        if let address = PageAddress(page), address.origin != nil, ["http", "https"].contains(address.scheme) {
            return page
        }
        mistake("'\(page)' is not the address of a page; an address begins with https:// or http://", at: node)
        return nil
    }

    fileprivate mutating func checkPages(of kiosk: KioskSettings, _ node: YAMLNode) {
        guard kiosk.page != nil, !kiosk.pages.isEmpty else { return }
        mistake("a kiosk has 'page' or 'pages', not both", at: node)
    }

    /// `[{open: https://shop.example.org, for: 30s, from: "08:00", until: "18:00", days: [mon, fri]}, …]`.
    fileprivate mutating func pages(_ node: YAMLNode) -> [KioskSettings.Page] {
        guard let items = node.sequence, !items.isEmpty else {
            mistake("'pages' must be a list of pages, such as [{open: /srv/page, for: 30s}]", got: node)
            return []
        }
        if items.count > KioskSettings.maximumPages {
            mistake("'pages' has more than \(KioskSettings.maximumPages) pages", at: node)
        }
        return items.compactMap { item in
            guard mustBeMapping(item, "each of 'pages'", suchAs: "{open: /srv/page, for: 30s}") else { return nil }
            var page = KioskSettings.Page(location: location(item))
            let names = read(item, of: "'pages'", SettingsReader.kioskPageKeys, into: &page)
            if !names.contains("open") {
                mistake("each of 'pages' needs 'open', a folder, an HTML file or an address", at: item)
            }
            if let moment = page.from, moment == page.until {
                mistake("'from' and 'until' are both \(moment); without them the page is shown all day", at: item)
            }
            return page.open.isEmpty ? nil : page
        }
    }

    fileprivate mutating func stay(_ node: YAMLNode, _ what: String) -> Double? {
        guard let seconds = seconds(node, what) else { return nil }
        if KioskSettings.Page.stays.contains(seconds) { return seconds }
        mistake("\(what) must be from 5s to 24h: how long the page stays", got: node)
        return nil
    }

    /// What is shown without a network cannot come over it.
    fileprivate mutating func fallback(_ node: YAMLNode) -> String? {
        guard node.text?.contains("://") != true else {
            mistake("'fallback' must be a folder or an HTML file on this device", got: node)
            return nil
        }
        return filePath(node, "'fallback'")
    }

    fileprivate mutating func origins(_ node: YAMLNode, _ what: String) -> Set<String> {
        var origins: Set<String> = []
        for word in words(node, what) {
            let written = word.value.lowercased()
            guard let address = PageAddress(written), let origin = address.origin,
                ["http", "https"].contains(address.scheme),
                ["", "/"].contains(written.dropFirst("\(address.scheme)://\(address.authority)".count))
            else {
                let remedy = "write scheme and host, such as https://example.org"
                mistake("'\(word.value)' in \(what) is not an origin; \(remedy)", at: word.location)
                continue
            }
            origins.insert(origin)
        }
        return origins
    }

    fileprivate mutating func schemes(_ node: YAMLNode, _ what: String) -> [String] {
        words(node, what).compactMap { word in
            let taken = [
                "http", "https", "qc", "file", "about", "data", "blob", "javascript", "ws", "wss", "wvjbscheme",
            ]
            guard PageAddress.isScheme(word.value), !taken.contains(word.value.lowercased()) else {
                let what =
                    "'\(word.value)' cannot be a scheme of your own; a scheme is a letter, then letters, digits, +, - and ."
                mistake(what, at: word.location)
                return nil
            }
            return word.value
        }
    }

    /// Names that a script can call without quotes, or with one dot: functions of an object.
    fileprivate mutating func functions(_ node: YAMLNode, _ what: String) -> [String] {
        words(node, what).compactMap { word in
            let parts = word.value.split(separator: ".", omittingEmptySubsequences: false)
            let areNames = parts.allSatisfy { part in
                part.first?.isNumber == false
                    && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) || "_$".contains($0) }
            }
            guard areNames, parts.count <= 2 else {
                let what = "'\(word.value)' in 'functions' cannot be a function's name; "
                mistake(
                    what + "write a command's name of letters, digits, _ and $, or two with a dot between them",
                    at: word.location
                )
                return nil
            }
            return word.value
        }
    }

    /// A product of RFC 9110, 10.1.5: a token, or two with a slash between them. The engine ignores anything else.
    fileprivate mutating func userAgent(_ node: YAMLNode, _ what: String) -> String? {
        guard let text = string(node, what) else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Self.isTokenCharacter) }) else {
            mistake("'userAgent' must be a name, or a name and a version, such as Shop/2", got: node)
            return nil
        }
        return text
    }

    /// RFC 9110, 5.6.2.
    fileprivate static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    fileprivate mutating func zoom(_ node: YAMLNode, _ what: String) -> Double? {
        guard let value = number(node, what) else { return nil }
        if (0.25...8).contains(value) { return value }
        mistake("'zoom' must be a number from 0.25 to 8; 1 is the page's own size", got: node)
        return nil
    }

    fileprivate mutating func leaveKey(_ node: YAMLNode, _ what: String) -> Located<String>? {
        guard let text = string(node, what), text != "none" else { return nil }
        return Located(text, at: location(node))
    }

    fileprivate mutating func monitor(_ node: YAMLNode) -> MonitorChoice? {
        if let choice = node.text.flatMap(MonitorChoice.init) { return choice }
        let number = "its number, from 1 to \(MonitorChoice.maximumNumber)"
        mistake("'monitor' must be the name of a monitor's connector, such as HDMI-1, or \(number)", got: node)
        return nil
    }

    fileprivate mutating func time(_ node: YAMLNode, _ what: String) -> Double? {
        node.text == "never" ? nil : seconds(node, what)
    }
}
