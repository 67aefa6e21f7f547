import Configuration
import JSON
import Linux

/// What `quickconnect new` makes, as a value that does nothing by itself: the shipped templates that it consists of, and their
/// texts for a name.
struct NewProject {
    /// A language that has a client.
    enum Language: String, CaseIterable { case python, node, swift }

    enum Kind: Equatable {
        case script, page, kiosk
        case program(Language)
    }

    let kind: Kind
    let name: String
    /// The user who makes it, and may post its events.
    let user: String
    /// The folder of the shipped files, whose client a program gets; in a checkout that of the sources.
    let shared: String

    /// The folders of templates whose files it consists of.
    var templates: [String] {
        switch kind {
        case .script: ["command", "script"]
        case .page: ["page", "browser"]
        case .kiosk: ["page", "kiosk"]
        case .program(let language): ["command", language.rawValue]
        }
    }

    /// The client for its language, which is one file: its name in the folder, and where it may lie.
    var client: (name: String, paths: [String], package: String)? {
        let clients = "\(shared)/clients"
        switch kind {
        case .program(.python):
            let name = "quickconnect.py"
            let paths = ["\(clients)/\(name)", "\(clients)/python/\(name)", "/usr/lib/python3/dist-packages/\(name)"]
            return (name, paths, "python3-quickconnect")
        case .program(.node):
            // Under this name it works in a package of "type": "module", too.
            let paths = ["\(clients)/quickconnect.js", "\(clients)/javascript/quickconnect.js"]
            return ("quickconnect.cjs", paths, "quickconnect")
        default: return nil
        }
    }

    /// A text or path of a template: each word that stands for something is replaced by it, once.
    func filled(_ text: String) -> String {
        let words = [
            "NAME": name, "USER": JSONValue.string(user).text, "RUN": start(), "SOURCES": JSONValue.string(shared).text,
            "PACKAGE": JSONValue.string(LocalFile.last(of: shared)).text,
        ]
        var (result, rest) = ("", text[...])
        while let first = rest.first {
            let word = words.first { rest.hasPrefix($0.key) }
            result += word?.value ?? String(first)
            rest = rest.dropFirst(word?.key.count ?? 1)
        }
        return result
    }

    /// The first line of a file that can be run; nil for any other. The templates are without it, because they are no programs of
    /// the package that has them.
    func interpreter(of path: String) -> String? {
        switch path {
        case "test", "show": "#!/bin/sh"
        case "\(name).js": "#!/usr/bin/env -S quickconnect run"
        case "main.py": "#!/usr/bin/env python3"
        case "main.mjs": "#!/usr/bin/env node"
        default: nil
        }
    }

    /// What starts it.
    /// - Parameter folder: its folder, with a slash; empty: the current one.
    private func start(in folder: String = "") -> String {
        switch kind {
        case .script: "quickconnect run \(folder)\(name).js"
        case .program(.python): "python3 \(folder)main.py"
        case .program(.node): "node \(folder)main.mjs"
        case .program(.swift): "swift build >&2\n.build/debug/\(name)"
        case .page, .kiosk: ""
        }
    }
}

// MARK: What is said of it

extension NewProject {
    /// The line that shows that it works.
    var firstStep: String {
        switch kind {
        case .script, .program: "\(name)/test"
        case .page, .kiosk: "\(name)/show"
        }
    }

    /// What that line puts into the folder of the owner's settings, mappings, scripts and pages: paths in it.
    var targets: [String] {
        let mapping = "mappings/\(name).yaml"
        return switch kind {
        case .script: [mapping, "scripts/\(name).js"]
        case .program: [mapping]
        case .page: [mapping, "pages/\(name)"]
        // One window has one file of settings: a key in two is a mistake.
        case .kiosk: [mapping, Self.kioskSettings, "kiosk/\(name)"]
        }
    }

    private static let kioskSettings = "settings.d/kiosk.yaml"

    /// The line that puts it on this device. What the daemon refuses is removed again: with a mistake it would not start.
    /// - Parameters:
    ///   - folder: of the owner's settings, mappings, scripts and pages.
    ///   - sudo: what begins a command that changes something there, with a space behind it; empty where none is needed.
    func installing(in folder: String, sudo: String) -> String {
        let paths = targets.map { "\(folder)/\($0)".shellWord }
        func install(_ file: String, _ path: String) -> String { "\(sudo)install -Dm644 \(name)/\(file) \(path)" }
        func reload(_ read: ArraySlice<String>) -> String {
            "{ \(sudo)quickconnect call reload || { \(sudo)rm \(read.joined(separator: " ")); false; }; }"
        }
        func page(_ path: String) -> [String] {
            // Where another user can read it, whatever the umask.
            [
                "\(sudo)install -d \(path)", "\(sudo)cp -rT \(name)/page \(path)",
                "\(sudo)chmod -R u=rwX,go=rX \(path)",
            ]
        }
        let mapping = install("\(name).yaml", paths[0])
        let steps =
            switch kind {
            case .script: [mapping, reload(paths[..<1]), install("\(name).js", paths[1])]
            case .program(.swift): [mapping, reload(paths[..<1]), "(cd \(name) && swift run)"]
            case .program: [mapping, reload(paths[..<1]), start(in: "\(name)/")]
            case .page: [mapping, reload(paths[..<1])] + page(paths[1])
            case .kiosk:
                [mapping, install("kiosk.yaml", paths[1]), reload(paths[..<2])] + page(paths[2])
                    + ["\(sudo)quickconnect setup kiosk \(paths[2])"]
            }
        return steps.joined(separator: " && ")
    }
}

// MARK: Names

extension NewProject {
    static let rule = "a letter, and then at most 49 letters, digits and _"

    /// What mappings, and the gateway for pages, have for something else.
    private static let reserved = ["default", "error", "bridge", "call", "login", "logout"]

    /// Why a text is no name, as a sentence; nil if it is one.
    static func problem(of name: String) -> String? {
        guard isValid(name) else {
            let near = legal(name).map { "; how about '\($0)'?" } ?? ""
            return "'\(name)' cannot be the name, which is also a command's: \(rule)\(near)"
        }
        guard !reserved.contains(name) else {
            return "'\(name)' is taken on each device, by mappings or an address of pages: take another name"
        }
        return nil
    }

    /// What to say of a file or folder of the device whose place one of its own would take.
    func problem(ofFile path: String) -> String {
        guard !path.hasSuffix("/\(Self.kioskSettings)") else {
            return """
                \(path) is there, with the settings of the one window that a device has: to begin anew, remove it, or give \
                it another end than .yaml
                """
        }
        return "'\(name)' is taken on this device: \(path) is there; take another name"
    }

    /// What to say of a file of the device's mappings that has a name of its own mapping; nil if it has none.
    func problem(of mapping: String, besides text: String, in path: String) -> String? {
        let both = MappingFiles.names(in: mapping).intersection(MappingFiles.names(in: text))
        return both.min().map { "'\(name)' is taken on this device: \($0) is in \(path); take another name" }
    }

    private static func isValid(_ name: String) -> Bool {
        PlainName.isValid(name) && name.utf8.count <= 50 && !name.contains("-") && name.first?.isLetter == true
    }

    /// The nearest name: `doorBell` of `door-bell`; nil if there is none.
    private static func legal(_ text: String) -> String? {
        let words = text.split { "- .".contains($0) }
        let others = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        let name = (words.prefix(1).map(String.init) + others).joined()
        return isValid(name) ? name : nil
    }
}
